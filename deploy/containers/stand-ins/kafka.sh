#!/usr/bin/env bash
# As in the published image: KAFKA_X_Y becomes x.y of server.properties; the storage is formatted once.
set -euo pipefail

properties=/opt/kafka/config/server.properties
env | grep '^KAFKA_' | grep -v '^KAFKA_HEAP_OPTS=' | while IFS='=' read -r name value; do
  name=${name#KAFKA_}
  name=${name,,}
  echo "${name//_/.}=$value"
done > "$properties"

# Without a configuration of its own, log4j prints errors only.
java=(java -Dorg.apache.logging.log4j.level=INFO -cp '/opt/kafka/libs/*')
"${java[@]}" kafka.tools.StorageTool format --ignore-formatted -t 5L6g3nShT-eMCtK--X86sw -c "$properties"
# shellcheck disable=SC2086 # several options in one variable
exec "${java[@]}" ${KAFKA_HEAP_OPTS:--Xmx512m} kafka.Kafka "$properties"
