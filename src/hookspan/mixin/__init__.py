"""Recording rules, alerts and dashboards as code, for Prometheus and Grafana.

All of it is made from the names in `telemetry/semconv.py` and one `MixinSettings`:

    hookspan mixin build --settings mine.json --out dashboards

The committed output under `dashboards/` is what the default settings give.
"""

from hookspan.mixin.settings import MixinSettings

__all__ = ["MixinSettings"]
