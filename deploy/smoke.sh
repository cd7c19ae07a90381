#!/bin/sh
# Asks each service of docker-compose.yml from outside; says what is wrong.
set -u
failed=0
ask() { # name, URL, text that the answer must contain, hint
  if answer=$(curl -fsS --max-time 5 "$2" 2>&1) && printf %s "$answer" | grep -q "$3"; then
    echo "ok      $1"
  else
    echo "FAILED  $1: $2 - $4"
    failed=1
  fi
}
ask "Collector" http://localhost:13133/ "" "docker compose logs otel-collector"
ask "Jaeger" http://localhost:16686/api/services data "docker compose logs jaeger"
ask "Prometheus" http://localhost:9090/-/ready "" "docker compose logs prometheus"
ask "Prometheus has the rules" http://localhost:9090/api/v1/rules HookspanGuardCrashed \
  "is dashboards/prometheus world-readable?"
ask "Prometheus scrapes the Collector" \
  'http://localhost:9090/api/v1/query?query=up%7Bjob%3D%22otel-collector%22%7D%3D%3D1' \
  '"value"' "wait 15 s; docker compose ps otel-collector"
ask "Alertmanager" http://localhost:9093/-/ready "" "docker compose logs alertmanager"
ask "Loki" http://localhost:3100/ready ready "it takes 20 s; docker compose logs loki"
ask "Grafana" http://localhost:3000/api/health ok "docker compose logs grafana"
ask "Grafana has the dashboards" 'http://localhost:3000/api/search?tag=hookspan' hookspan-policy \
  "is dashboards/grafana world-readable?"
exit $failed
