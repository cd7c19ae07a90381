#!/bin/sh
# Ten minutes of the demonstration: runs that behave, are denied, crash in a hook; then quiet.
set -eu
cp -r /opt/hookspan /tmp/hookspan
pip install --quiet "/tmp/hookspan[crewai]"
end=$(($(date +%s) + 600))
while [ "$(date +%s)" -lt "$end" ]; do
  hookspan demo --no-color >/dev/null
  sleep 5
done
