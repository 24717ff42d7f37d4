package deploy

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
	net "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"
)

const (
	chartFolder = "../helm/pixmesh"
	boardFiles  = "../observability/grafana/*.json"
	// Every installation in production names its own.
	ownAddresses = `ownAddresses=["192.0.2.20/32"]`
	topicsGuide  = "../../docs/guides/installations/strimzi.md"
)

var (
	helm    string
	sources contracts
)

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "pixmesh-helm-")
	if err == nil {
		helm = filepath.Join(folder, "helm")
		err = run("go", "build", "-p", "2", "-o", helm, "helm.sh/helm/v4/cmd/helm")
	}
	if err == nil {
		var out []byte
		if out, err = exec.Command("node", "contracts.ts").Output(); err == nil {
			err = json.Unmarshal(out, &sources)
		}
	}
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	os.RemoveAll(folder)
	os.Exit(code)
}

func run(name string, args ...string) error {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

func TestValueSets(t *testing.T) {
	boards, _ := filepath.Glob(boardFiles)
	if len(boards) == 0 {
		t.Fatal("no dashboards")
	}
	for _, set := range []string{"production", "small", "development"} {
		t.Run(set, func(t *testing.T) {
			rendered, err := render(helm, chartFolder, "values-"+set+".yaml")
			if err != nil {
				t.Fatal(err)
			}
			if len(rendered.deployments) != 7 || len(rendered.jobs) != 2 {
				t.Errorf("%d deployments, %d jobs", len(rendered.deployments), len(rendered.jobs))
			}
			rules, dashboards := 0, 0
			if set == "production" {
				rules, dashboards = 1, len(boards)
			}
			if len(rendered.rules) != rules || len(rendered.dashboards) != dashboards {
				t.Errorf("%d objects of rules, %d dashboards", len(rendered.rules), len(rendered.dashboards))
			}
			for _, finding := range rendered.findings(sources) {
				t.Error(finding)
			}
		})
	}
}

// Each mistake is planted into a copy of the chart, and has to be found by its name.
func TestPlantedMistakes(t *testing.T) {
	mistakes := []struct{ name, file, old, new, finding string }{
		{"root", "templates/_pod.tpl", "runAsNonRoot: true", "runAsNonRoot: false", "may run as root"},
		{"no limit", "values.yaml", "limits: { cpu: '1', memory: 512Mi }", "limits: { cpu: '1' }", "no limit or request of memory"},
		{"no probe", "templates/workloads.yaml", "          readinessProbe:\n            httpGet: { path: /readyz, port: internal }\n            periodSeconds: 5\n            timeoutSeconds: 3\n", "", "a probe is missing"},
		{"open policy", "values.yaml", "    - 169.254.0.0/16\n", "", "reaches 169.254.169.254"},
		{"secret in values", "values.yaml", "settings: { ROLES: api }", "settings: { ROLES: api, REDIS_URL: 'rediss://u:p@redis' }", "the secret REDIS_URL is a value"},
		{"wrong port", "templates/workloads.yaml", `"INTERNAL_PORT" "9090"`, `"INTERNAL_PORT" "9091"`, "nothing listens on port 9090"},
		{"scaler on a metric that does not exist", "values.yaml", "query: max(webhook_due_lanes)", "query: max(webhook_due_deliveries)", "which no service exports"},
		{"scaler that sees no CPU", "templates/workloads.yaml", "    - type: cpu\n      metricType: Utilization\n      metadata:\n        value: {{ $.Values.autoscaling.cpuPercent | quote }}\n", "", "adds no process where CPU is short"},
		{"no budget", "templates/workloads.yaml", "  maxUnavailable: 1\n  selector:\n    matchLabels: {{- include \"pixmesh.labels\" $of", "  maxUnavailable: 1\n  selector:\n    matchLabels: {{- include \"pixmesh.labels\" (dict \"root\" $ \"name\" \"x\")", "no disruption budget"},
		{"budget that holds up a drain", "templates/workloads.yaml", "  unhealthyPodEvictionPolicy: AlwaysAllow\n", "", "holds up the drain of a node while it is not ready"},
		{"mutable tag", "templates/_pod.tpl", ":{{ $image.tag }}", ":latest", "mutable image"},
		{"alert without a runbook", "files/rules.yml", "runbook: docs/runbooks/service-down.md", "runbook: ''", "alert ServiceDown: no runbook"},
		{"targets that no alert knows", "templates/workloads.yaml", "targetLabel: service,", "targetLabel: app,", "alert ServiceDown: no monitor has targets with the label service=gateway"},
		{"dashboard that no sidecar finds", "templates/observability.yaml", "labels: {{- toYaml $.Values.dashboards.labels", "annotations: {{- toYaml $.Values.dashboards.labels", "dashboard-mesh: no sidecar finds it"},
		{"dashboard that is cut off", "files/dashboards/money.json", "\"panels\": [", "\"panels\": [[", "no dashboard: pixmesh-money.json"},
		{"more processes than Postgres has connections for", "values.yaml", "replicas: { min: 2, max: 5 }", "replicas: { min: 2, max: 6 }", "the maxima need 520 connections of 500"},
		{"less memory than measured", "values.yaml", "memory: 384Mi", "memory: 320Mi", "requests less memory than was measured"},
		{"roll-out without a pause", "templates/workloads.yaml", "  minReadySeconds: 15\n", "", "the next process is replaced at once"},
		{"impatient probe", "templates/workloads.yaml", "            timeoutSeconds: 5\n", "", "a probe waits for less than 3 s"},
		{"fallback that ends processes", "templates/workloads.yaml", ", behavior: currentReplicasIfHigher", "", "ends processes while nothing is known of the load"},
		{"setting that does not exist", "values.yaml", "ROLES: intake", "ROLE: intake", "ROLE is no setting of webhook-dispatcher"},
	}
	for _, mistake := range mistakes {
		t.Run(mistake.name, func(t *testing.T) {
			folder := t.TempDir()
			if err := os.CopyFS(folder, os.DirFS(chartFolder)); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(folder, mistake.file)
			text, err := os.ReadFile(file)
			if err != nil || !strings.Contains(string(text), mistake.old) {
				t.Fatal("the chart no longer has the place of this mistake", err)
			}
			planted := strings.ReplaceAll(string(text), mistake.old, mistake.new)
			if err := os.WriteFile(file, []byte(planted), 0o600); err != nil {
				t.Fatal(err)
			}
			rendered, err := render(helm, folder, "values-production.yaml")
			if err != nil {
				t.Fatal(err)
			}
			found := rendered.findings(sources)
			if !slices.ContainsFunc(found, func(line string) bool { return strings.Contains(line, mistake.finding) }) {
				t.Errorf("not found: %s, but %q", mistake.finding, found)
			}
		})
	}
}

var part = regexp.MustCompile(`([a-z-]+) (\d+) x (\d+)`)

// What the chart takes one process of each workload to hold is what its service holds, also with larger pools.
func TestConnectionsOfPools(t *testing.T) {
	for _, sizes := range []struct {
		flag  string
		holds map[string]int
	}{
		{"settings.LOG_LEVEL=info", sources.Connections},
		{fmt.Sprintf("settings.DATABASE_POOL_SIZE=%d", sources.PoolSize), sources.ConnectionsByPoolSize},
	} {
		services := workloadServices(t)
		_, err := render(helm, chartFolder, "values-production.yaml", "--set-string", sizes.flag, "--set", "postgres.maxConnections=101")
		if err == nil || !strings.Contains(err.Error(), "too many processes for Postgres") {
			t.Fatal(err)
		}
		found := map[string]bool{}
		for _, p := range part.FindAllStringSubmatch(err.Error(), -1) {
			found[p[1]] = true
			if want := fmt.Sprint(sizes.holds[services[p[1]]]); p[3] != want {
				t.Errorf("%s: %s holds %s connections in the chart, %s in its service", sizes.flag, p[1], p[3], want)
			}
		}
		if len(found) != len(services) {
			t.Errorf("%s: counted %v", sizes.flag, found)
		}
	}
}

// Processes that Postgres has too few connections for are refused with the numbers, where it is said what it has.
func TestTooFewConnections(t *testing.T) {
	needed := 500 + sources.ReservedConnections
	for _, one := range []struct {
		set, flags string
		fits       bool
	}{
		{"production", fmt.Sprintf("postgres.maxConnections=%d", needed), true},
		{"production", fmt.Sprintf("postgres.maxConnections=%d", needed-1), false},
		{"production", fmt.Sprintf("postgres.maxConnections=%d,workloads.charges.replicas.max=6", needed), false},
		{"production", "workloads.charges.replicas.max=12", true},
		{"production", "postgres=null,workloads.charges.replicas.max=12", true},
		// Without scalers there are never more than the least: one of each, 164.
		{"small", fmt.Sprintf("postgres.maxConnections=%d", 164+sources.ReservedConnections), true},
		{"small", fmt.Sprintf("postgres.maxConnections=%d", 163+sources.ReservedConnections), false},
		// The scalers of KEDA alone: the intake and the senders may have three.
		{"small", fmt.Sprintf("keda.enabled=true,postgres.maxConnections=%d", 292+sources.ReservedConnections), true},
		{"small", fmt.Sprintf("keda.enabled=true,postgres.maxConnections=%d", 291+sources.ReservedConnections), false},
	} {
		_, err := render(helm, chartFolder, "values-"+one.set+".yaml", "--set", one.flags)
		if (err == nil) != one.fits {
			t.Errorf("%s with %s: %v", one.set, one.flags, err)
		}
		if err != nil && !one.fits && !strings.Contains(err.Error(), "connections, but postgres.maxConnections") {
			t.Errorf("%s with %s: %v", one.set, one.flags, err)
		}
	}
}

// workloadServices are the services of the workloads, by the names of those.
func workloadServices(t *testing.T) map[string]string {
	text, err := os.ReadFile(filepath.Join(chartFolder, "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var values struct {
		Workloads map[string]struct{ Service string }
	}
	if err := yaml.Unmarshal(text, &values); err != nil {
		t.Fatal(err)
	}
	services := map[string]string{}
	for name, workload := range values.Workloads {
		services[name] = workload.Service
	}
	return services
}

// A run that hangs holds up those after it: the export of each minute for less than its alert waits.
func TestBackup(t *testing.T) {
	rendered, err := render(helm, chartFolder, "values-production.yaml", "--set", "backup.enabled=true,backup.claim=backups,backup.recipient=age1q")
	if err != nil {
		t.Fatal(err)
	}
	deadlines := map[string]int64{}
	for _, job := range rendered.cronJobs {
		deadlines[job.Name] = *job.Spec.JobTemplate.Spec.ActiveDeadlineSeconds
	}
	if want := map[string]int64{"pixmesh-backup-base": 21600, "pixmesh-backup-audit": 300}; !maps.Equal(deadlines, want) {
		t.Errorf("deadlines %v", deadlines)
	}
}

// How long a migration takes depends on the tables of an installation.
func TestDeadlinesOfJobs(t *testing.T) {
	for deploy, flags := range map[int64][]string{3600: nil, 7200: {"--set", "jobs.deploy.deadlineSeconds=7200"}} {
		rendered, err := render(helm, chartFolder, "values-production.yaml", flags...)
		if err != nil {
			t.Fatal(err)
		}
		deadlines := map[string]int64{}
		for _, job := range rendered.jobs {
			deadlines[job.Name] = *job.Spec.ActiveDeadlineSeconds
		}
		if want := map[string]int64{"pixmesh-job-deploy": deploy, "pixmesh-job-callback": 600}; !maps.Equal(deadlines, want) {
			t.Errorf("deadlines %v", deadlines)
		}
	}
}

// The collector of traces and the provider of tokens are reached where the values say where they are.
func TestOptionalNetworks(t *testing.T) {
	const collector, provider = "10.0.0.50/32", "10.0.0.60/32"
	networks := func(cidr string, port int) string {
		return fmt.Sprintf(`{"port":%d,"to":[{"ipBlock":{"cidr":"%s"}}]}`, port, cidr)
	}
	rendered, err := render(helm, chartFolder, "values-production.yaml",
		"--set-json", "networks.traces="+networks(collector, 4318), "--set-json", "networks.token="+networks(provider, 443))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range rendered.deployments {
		for _, cidr := range []string{collector, provider} {
			if !rendered.reaches(d.Spec.Template.Labels, cidr) {
				t.Errorf("%s does not reach %s", d.Name, cidr)
			}
		}
	}
	for _, job := range rendered.jobs {
		if want := job.Name == "pixmesh-job-deploy"; rendered.reaches(job.Spec.Template.Labels, provider) != want {
			t.Errorf("%s reaches the provider of tokens: %t", job.Name, !want)
		}
	}
	for _, finding := range rendered.findings(sources) {
		t.Error(finding)
	}
}

// A dependency that has moved is reached by the job of the upgrade that says so: its policy is applied before it runs.
func TestPoliciesOfHooks(t *testing.T) {
	const moved = "10.0.9.10/32"
	rendered, err := render(helm, chartFolder, "values-production.yaml",
		"--set-json", fmt.Sprintf(`networks.postgres={"port":5432,"to":[{"ipBlock":{"cidr":"%s"}}]}`, moved))
	if err != nil {
		t.Fatal(err)
	}
	hooks := &chart{}
	for _, p := range rendered.policies {
		if p.Annotations["helm.sh/hook"] == "pre-install,pre-upgrade" && p.Annotations["helm.sh/hook-weight"] == "-1" {
			hooks.policies = append(hooks.policies, p)
		}
	}
	for _, job := range rendered.jobs {
		if job.Annotations["helm.sh/hook-weight"] != "" {
			t.Errorf("%s has a weight of its own", job.Name)
		}
		labels := job.Spec.Template.Labels
		if !slices.ContainsFunc(hooks.policies, func(p *net.NetworkPolicy) bool { return covers(&p.Spec.PodSelector, labels) }) {
			t.Errorf("%s has no policy that is applied before it", job.Name)
		}
		if want := job.Name == "pixmesh-job-deploy"; hooks.reaches(labels, moved) != want {
			t.Errorf("%s reaches %s: %t", job.Name, moved, !want)
		}
	}
}

// What an installation itself is reached by is no receiver: neither the sender nor its policy lets a webhook there.
func TestOwnAddresses(t *testing.T) {
	rendered, err := render(helm, chartFolder, "values-production.yaml", "--set-json", `ownAddresses=["203.0.113.0/28","2001:db8::20/128"]`)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range rendered.deployments {
		want := ""
		if d.Name == "pixmesh-dispatcher-sender" {
			want = "203.0.113.0/28,2001:db8::20/128"
		}
		if refused := valueOf(d.Spec.Template.Spec.Containers[0].Env, "WEBHOOK_FORBIDDEN_ADDRESSES"); refused != want {
			t.Errorf("%s refuses %q", d.Name, refused)
		}
	}
	for _, own := range []string{"203.0.113.0/28", "2001:db8::20/128"} {
		if !rendered.excepts(own) {
			t.Errorf("senders reach %s", own)
		}
	}
	// Null takes the key away, as --reuse-values does of a release that had none. `helm lint` puts the default there.
	for _, none := range []string{"[]", "null"} {
		out, err := exec.Command(helm, "template", "pixmesh", chartFolder, "-f", filepath.Join(chartFolder, "values-production.yaml"), "--set-json", "ownAddresses="+none).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "ownAddresses") {
			t.Errorf("production with ownAddresses=%s is rendered", none)
		}
	}
	for _, settings := range []string{"settings", "workloads.dispatcher-sender.settings"} {
		given := settings + ".WEBHOOK_FORBIDDEN_ADDRESSES=203.0.113.9/32"
		if _, err := render(helm, chartFolder, "values-production.yaml", "--set", given); err == nil || !strings.Contains(err.Error(), "ownAddresses") {
			t.Errorf("ownAddresses and %s: %v", given, err)
		}
	}
}

func valueOf(env []core.EnvVar, name string) string {
	for _, variable := range env {
		if variable.Name == name {
			return variable.Value
		}
	}
	return ""
}

// excepts a network from what may be reached in the internet.
func (c *chart) excepts(cidr string) bool {
	for _, p := range c.policies {
		for _, rule := range p.Spec.Egress {
			for _, peer := range rule.To {
				if peer.IPBlock != nil && slices.Contains(peer.IPBlock.Except, cidr) {
					return true
				}
			}
		}
	}
	return false
}

// reaches a network that a policy names as it is.
func (c *chart) reaches(labels map[string]string, cidr string) bool {
	for _, p := range c.policies {
		if !covers(&p.Spec.PodSelector, labels) {
			continue
		}
		for _, rule := range p.Spec.Egress {
			for _, peer := range rule.To {
				if peer.IPBlock != nil && peer.IPBlock.CIDR == cidr {
					return true
				}
			}
		}
	}
	return false
}

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

func TestGuides(t *testing.T) {
	guides, _ := filepath.Glob("../../docs/guides/installations/*.md")
	if len(guides) == 0 {
		t.Fatal("no guides")
	}
	for _, guide := range append(guides, "../../docs/guides/deploy.md", "../../docs/guides/upgrade.md") {
		t.Run(filepath.Base(guide), func(t *testing.T) {
			text, err := os.ReadFile(guide)
			if err != nil {
				t.Fatal(err)
			}
			for _, block := range yamlBlock.FindAllStringSubmatch(string(text), -1) {
				for _, document := range strings.Split("\n"+block[1], "\n---") {
					var value any
					if err := yaml.UnmarshalStrict([]byte(document), &value); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
}

// The deploy job takes topics from the contracts; the operator's manifests in the guide have to name the same.
func TestTopics(t *testing.T) {
	text, err := os.ReadFile(topicsGuide)
	if err != nil {
		t.Fatal(err)
	}
	if missing := missingTopics(string(text)); len(missing) > 0 {
		t.Errorf("missing topics: %v", missing)
	}
	t.Run("missing topic", func(t *testing.T) {
		planted := strings.ReplaceAll(string(text), "name: "+sources.Topics[0], "name: x")
		if missing := missingTopics(planted); !slices.Equal(missing, sources.Topics[:1]) {
			t.Errorf("missing topics: %v", missing)
		}
	})
}

type kafkaUser struct {
	Kind     string
	Metadata struct{ Name string }
	Spec     struct {
		Authorization struct {
			Acls []struct {
				Resource   struct{ Type, Name string }
				Operations []string
			}
		}
	}
}

// Where an operator gives the rights, each service has those of the sources and no other.
func TestRights(t *testing.T) {
	text, err := os.ReadFile(topicsGuide)
	if err != nil {
		t.Fatal(err)
	}
	if given := rightsOf(string(text)); !slices.Equal(given, slices.Sorted(slices.Values(sources.Rights))) {
		t.Errorf("the guide gives %q, the sources %q", given, sources.Rights)
	}
	t.Run("right that is missing", func(t *testing.T) {
		planted := strings.Replace(string(text), "operations: [Read]", "operations: [Describe]", 1)
		if slices.Equal(rightsOf(planted), slices.Sorted(slices.Values(sources.Rights))) {
			t.Error("not found")
		}
	})
}

// rightsOf are a line each, sorted. To write and to read include to describe.
func rightsOf(guide string) []string {
	var given []string
	for _, block := range yamlBlock.FindAllStringSubmatch(guide, -1) {
		for _, document := range strings.Split("\n"+block[1], "\n---") {
			var user kafkaUser
			if yaml.Unmarshal([]byte(document), &user) != nil || user.Kind != "KafkaUser" {
				continue
			}
			for _, acl := range user.Spec.Authorization.Acls {
				for _, operation := range acl.Operations {
					given = append(given, strings.Join([]string{user.Metadata.Name, strings.ToLower(operation), acl.Resource.Type, acl.Resource.Name}, " "))
				}
			}
		}
	}
	slices.Sort(given)
	return given
}

var (
	secretRow  = regexp.MustCompile("(?m)^\\| (`[A-Z_]+`(?:, `[A-Z_]+`)*)( of the dispatcher)? \\| (`pixmesh-[^|]*) \\|$")
	quotedName = regexp.MustCompile("`([^`]+)`")
)

// A secret that is changed in one of its places only is two secrets.
func TestPlacesOfSecrets(t *testing.T) {
	guide, err := os.ReadFile("../../docs/guides/rotate.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := secretRow.FindAllStringSubmatch(string(guide), -1)
	if len(rows) == 0 {
		t.Fatal("no rows")
	}
	for _, row := range rows {
		for _, setting := range namesIn(row[1]) {
			prefix := "pixmesh-"
			if row[2] != "" {
				prefix = "pixmesh-dispatcher-"
			}
			want := placesOf(t, setting, prefix)
			if given := slices.Sorted(slices.Values(namesIn(row[3]))); !slices.Equal(given, want) {
				t.Errorf("%s: the guide gives %q, the chart %q", setting, given, want)
			}
		}
	}
}

func namesIn(cell string) []string {
	var names []string
	for _, name := range quotedName.FindAllStringSubmatch(cell, -1) {
		names = append(names, name[1])
	}
	return names
}

// placesOf are the names of the Secrets that hold a setting, sorted.
func placesOf(t *testing.T, setting, prefix string) []string {
	text, err := os.ReadFile(filepath.Join(chartFolder, "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var values struct {
		Workloads, Jobs map[string]struct{ Secrets []string }
	}
	if err := yaml.Unmarshal(text, &values); err != nil {
		t.Fatal(err)
	}
	var places []string
	for name, workload := range values.Workloads {
		if slices.Contains(workload.Secrets, setting) {
			places = append(places, "pixmesh-"+name)
		}
	}
	for name, job := range values.Jobs {
		if slices.Contains(job.Secrets, setting) {
			places = append(places, "pixmesh-job-"+name)
		}
	}
	places = slices.DeleteFunc(places, func(place string) bool { return !strings.HasPrefix(place, prefix) })
	slices.Sort(places)
	return places
}

func missingTopics(guide string) []string {
	var missing []string
	for _, topic := range sources.Topics {
		if !strings.Contains(guide, "{ name: "+topic+",") {
			missing = append(missing, topic)
		}
	}
	return missing
}
