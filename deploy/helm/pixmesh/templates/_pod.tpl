{{- define "pixmesh.labels" -}}
app.kubernetes.io/name: {{ .name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- end }}

{{- define "pixmesh.fullname" -}}
{{ .root.Release.Name }}-{{ .name }}
{{- end }}

{{- define "pixmesh.image" -}}
{{- $image := .root.Values.image -}}
{{- $digest := get $image.digests .target -}}
{{ $image.repository }}/{{ .target }}:{{ $image.tag }}{{ with $digest }}@{{ . }}{{ end }}
{{- end }}

{{/* What every pod is refused. The image's user is 1000. */}}
{{- define "pixmesh.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "pixmesh.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{/* Settings as values, secrets as the paths of files. */}}
{{- define "pixmesh.env" -}}
{{- range $name, $value := .settings }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- range .secrets }}
- { name: {{ . }}_FILE, value: /run/secrets/{{ . }} }
{{- end }}
{{- end }}

{{/* A key that the Secret lacks is a pod that does not start, so none is optional. */}}
{{- define "pixmesh.volumes" -}}
- name: secrets
  secret:
    secretName: {{ .secret }}
    defaultMode: 0440
    items:
    {{- range .secrets }}
    - { key: {{ . }}, path: {{ . }} }
    {{- end }}
{{- with .identity }}
- name: identity
  secret: { secretName: {{ . }}, defaultMode: 0440 }
{{- end }}
{{- end }}

{{- define "pixmesh.mounts" -}}
- { name: secrets, mountPath: /run/secrets, readOnly: true }
{{- if .identity }}
- { name: identity, mountPath: /run/identity, readOnly: true }
{{- end }}
{{- end }}
