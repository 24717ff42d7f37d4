{{/*
Connections of Postgres that one process of each service may hold: `fixed`, and `pools` times DATABASE_POOL_SIZE, which is
`poolSize` where it is not set. `npm run test:deploy` compares them with the services (mesh-services.ts).
*/}}
{{- define "pixmesh.pools" -}}
gateway: { fixed: 8, pools: 1, poolSize: 8 }
charges: { fixed: 20, pools: 0, poolSize: 0 }
payouts: { fixed: 20, pools: 0, poolSize: 0 }
ledger: { fixed: 12, pools: 0, poolSize: 0 }
webhook-dispatcher: { fixed: 0, pools: 2, poolSize: 16 }
{{- end }}

{{/* Refuses workloads whose pools could together want more than Postgres gives; that of the local stack reserves as much. */}}
{{- define "pixmesh.checkConnections" -}}
{{- with (default dict .Values.postgres).maxConnections }}
{{- $free := sub . 100 }}
{{- $pools := include "pixmesh.pools" $ | fromYaml }}
{{- $wanted := 0 }}
{{- $parts := list }}
{{- range $name, $w := $.Values.workloads }}
{{- $of := get $pools $w.service }}
{{- $settings := merge (dict) $w.settings $.Values.settings }}
{{- $poolSize := default $of.poolSize (get $settings "DATABASE_POOL_SIZE") }}
{{- $each := add $of.fixed (mul $of.pools (int $poolSize)) }}
{{- $count := $w.replicas.min }}
{{- if or $.Values.autoscaling.enabled (and $.Values.keda.enabled $w.scaler) }}{{ $count = $w.replicas.max }}{{ end }}
{{- $wanted = add $wanted (mul $count $each) }}
{{- $parts = append $parts (printf "%s %d x %d" $name (int $count) $each) }}
{{- end }}
{{- if gt $wanted $free }}
{{- fail (printf "too many processes for Postgres: %s = %d connections, but postgres.maxConnections %d leaves %d (docs/guides/scale.md)" (join " + " $parts) $wanted (int .) $free) }}
{{- end }}
{{- end }}
{{- end }}
