package deploy

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	core "k8s.io/api/core/v1"
	net "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// contracts is what deploy/test/contracts.ts prints.
type contracts struct {
	Settings    map[string][]string
	Topics      []string
	Rights      []string
	Metrics     []string
	Partitions  int
	Connections map[string]int
	// The same where DATABASE_POOL_SIZE is PoolSize.
	ConnectionsByPoolSize map[string]int
	PoolSize              int
	ReservedConnections   int
}

// max_connections, as docs/guides/scale.md and the guide of CloudNativePG have it.
const connectionsMax = 600

// What `charges`, the largest, was measured to need under load (docs/adr/0044).
var memoryMeasured = resource.MustParse("366M")

var (
	secretName     = regexp.MustCompile(`PASSWORD|SECRET|TOKEN$|PRIVATE|PEPPER|_KEY$|DATABASE_URL|REDIS_URL`)
	immutableImage = regexp.MustCompile(`:\d+\.\d+\.\d+[\w.-]*(@sha256:[0-9a-f]{64})?$`)
	metricName     = regexp.MustCompile(`[a-z_]+_[a-z_]+`)
	// What no webhook may reach, an address of each range.
	inside = []string{"10.1.2.3", "172.16.1.1", "192.168.1.1", "169.254.169.254", "127.0.0.1", "100.64.0.1", "168.63.129.16", "192.88.99.1",
		"::1", "fd00:ec2::254", "fe80::1", "fc00::1", "64:ff9b::a00:1"}
)

// findings are all that is wrong, a line each.
func (c *chart) findings(of contracts) []string {
	var found []string
	add := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	for _, d := range c.deployments {
		spec := d.Spec.Template.Spec
		checkPod(d.Name, spec, of, add)
		for _, container := range spec.Containers {
			if container.LivenessProbe == nil || container.ReadinessProbe == nil || container.StartupProbe == nil {
				add("%s: a probe is missing", d.Name)
			}
			checkPatience(d.Name, container, add)
			checkPorts(d.Name, container, add)
		}
		if d.Spec.MinReadySeconds == 0 {
			add("%s: the next process is replaced at once", d.Name)
		}
		if spec.TerminationGracePeriodSeconds == nil || *spec.TerminationGracePeriodSeconds < 25 {
			add("%s: killed before it has stopped", d.Name)
		}
		c.checkBudget(d.Name, d.Spec.Template.Labels, add)
		c.checkPolicies(d.Name, d.Spec.Template.Labels, add)
	}
	for _, job := range c.jobs {
		checkPod(job.Name, job.Spec.Template.Spec, of, add)
		c.checkPolicies(job.Name, job.Spec.Template.Labels, add)
	}
	c.checkServices(add)
	c.checkScalers(of, add)
	c.checkRules(add)
	c.checkDashboards(add)
	return found
}

// checkBudget: while a database is away no process is ready, and the node that it hangs on has to be drained all the same.
func (c *chart) checkBudget(name string, labels map[string]string, add func(string, ...any)) {
	budget := slices.IndexFunc(c.budgets, func(b *policy.PodDisruptionBudget) bool { return covers(b.Spec.Selector, labels) })
	if budget < 0 {
		add("%s: no disruption budget", name)
		return
	}
	allowed := c.budgets[budget].Spec.UnhealthyPodEvictionPolicy
	if allowed == nil || *allowed != policy.AlwaysAllow {
		add("%s: holds up the drain of a node while it is not ready", name)
	}
}

func checkPod(name string, spec core.PodSpec, of contracts, add func(string, ...any)) {
	security := spec.SecurityContext
	if security == nil || security.RunAsNonRoot == nil || !*security.RunAsNonRoot || security.RunAsUser == nil || *security.RunAsUser == 0 {
		add("%s: may run as root", name)
	} else if security.SeccompProfile == nil || security.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault {
		add("%s: no seccomp profile", name)
	}
	if spec.AutomountServiceAccountToken == nil || *spec.AutomountServiceAccountToken {
		add("%s: has a token of the cluster", name)
	}
	for _, container := range spec.Containers {
		own := container.SecurityContext
		if own == nil || own.ReadOnlyRootFilesystem == nil || !*own.ReadOnlyRootFilesystem ||
			own.AllowPrivilegeEscalation == nil || *own.AllowPrivilegeEscalation ||
			own.Capabilities == nil || !slices.Contains(own.Capabilities.Drop, "ALL") {
			add("%s: more rights than it needs", name)
		}
		for _, kind := range []core.ResourceName{core.ResourceCPU, core.ResourceMemory} {
			limit, request := container.Resources.Limits[kind], container.Resources.Requests[kind]
			if limit.IsZero() || request.IsZero() {
				add("%s: no limit or request of %s", name, kind)
			}
		}
		if request := container.Resources.Requests.Memory(); request.Cmp(memoryMeasured) < 0 {
			add("%s: requests less memory than was measured", name)
		}
		if !immutableImage.MatchString(container.Image) {
			add("%s: mutable image %s", name, container.Image)
		}
		checkSettings(name, container, of, add)
	}
}

func checkSettings(name string, container core.Container, of contracts, add func(string, ...any)) {
	known := append([]string{"SERVICE_NAME", "OTEL_EXPORTER_OTLP_ENDPOINT"}, of.Settings[container.Name]...)
	for _, env := range container.Env {
		setting, isFile := strings.CutSuffix(env.Name, "_FILE")
		if !slices.Contains(known, setting) {
			add("%s: %s is no setting of %s", name, setting, container.Name)
		}
		if !isFile && secretName.MatchString(setting) {
			add("%s: the secret %s is a value", name, setting)
		}
	}
}

// checkPatience: a busy process answers a probe late; the default of a second would end it or take it out of its Service.
func checkPatience(name string, container core.Container, add func(string, ...any)) {
	for _, probe := range []*core.Probe{container.LivenessProbe, container.ReadinessProbe, container.StartupProbe} {
		if probe != nil && probe.TimeoutSeconds < 3 {
			add("%s: a probe waits for less than 3 s", name)
		}
	}
}

// checkPorts: what a container is set to listen on is what it publishes.
func checkPorts(name string, container core.Container, add func(string, ...any)) {
	var listens []int32
	for _, env := range container.Env {
		if env.Name == "PORT" || strings.HasSuffix(env.Name, "_PORT") {
			port, _ := strconv.Atoi(env.Value)
			listens = append(listens, int32(port))
		}
	}
	for _, port := range container.Ports {
		if !slices.Contains(listens, port.ContainerPort) {
			add("%s: nothing listens on port %d", name, port.ContainerPort)
		}
	}
	for _, probe := range []*core.Probe{container.LivenessProbe, container.ReadinessProbe, container.StartupProbe} {
		if probe != nil && !slices.Contains(portNames(container), probe.HTTPGet.Port.StrVal) {
			add("%s: a probe of the wrong port %s", name, probe.HTTPGet.Port.String())
		}
	}
}

func portNames(container core.Container) []string {
	names := []string{}
	for _, port := range container.Ports {
		names = append(names, port.Name)
	}
	return names
}

func (c *chart) checkServices(add func(string, ...any)) {
	published := map[string]int32{}
	for _, service := range c.services {
		for _, port := range service.Spec.Ports {
			published[fmt.Sprintf("%s:%d", service.Name, port.Port)] = port.Port
			for _, d := range c.deployments {
				if covers(&meta.LabelSelector{MatchLabels: service.Spec.Selector}, d.Spec.Template.Labels) &&
					!slices.Contains(portNames(d.Spec.Template.Spec.Containers[0]), port.TargetPort.StrVal) {
					add("%s: a Service of the wrong port %s", d.Name, port.TargetPort.String())
				}
			}
		}
	}
	for _, d := range c.deployments {
		for _, env := range d.Spec.Template.Spec.Containers[0].Env {
			host, isURL := strings.CutPrefix(env.Value, "https://pixmesh-")
			if isURL && published["pixmesh-"+host] == 0 {
				add("%s: %s leads to no Service", d.Name, env.Name)
			}
		}
	}
}

// checkPolicies: denied unless a policy says otherwise, and only senders may reach the internet, never what is private.
func (c *chart) checkPolicies(name string, labels map[string]string, add func(string, ...any)) {
	isDenied := false
	for _, p := range c.policies {
		if !covers(&p.Spec.PodSelector, labels) {
			continue
		}
		isDenied = isDenied || len(p.Spec.PolicyTypes) == 2
		for _, rule := range p.Spec.Ingress {
			if len(rule.From) == 0 || len(rule.Ports) == 0 {
				add("%s: open policy: anybody may call", name)
			}
		}
		for _, rule := range p.Spec.Egress {
			if len(rule.To) == 0 {
				add("%s: open policy: may call anything", name)
			}
			for _, peer := range rule.To {
				checkBlock(name, peer.IPBlock, add)
			}
		}
	}
	if !isDenied {
		add("%s: no policy denies what is not named", name)
	}
}

func checkBlock(name string, block *net.IPBlock, add func(string, ...any)) {
	if block == nil {
		return
	}
	prefix, err := netip.ParsePrefix(block.CIDR)
	if err != nil {
		add("%s: no network: %s", name, block.CIDR)
		return
	}
	if prefix.Bits() > 0 {
		return
	}
	if !strings.HasSuffix(name, "-sender") {
		add("%s: open policy: reaches the internet", name)
	}
	for _, text := range inside {
		address := netip.MustParseAddr(text)
		if prefix.Addr().Is4() != address.Is4() {
			continue
		}
		if !slices.ContainsFunc(block.Except, func(except string) bool {
			e, err := netip.ParsePrefix(except)
			return err == nil && (e.Contains(address))
		}) {
			add("%s: open policy: reaches %s", name, text)
		}
	}
}

func (c *chart) checkScalers(of contracts, add func(string, ...any)) {
	connections := 0
	for _, a := range c.autoscalers {
		checkMax(a.Name, int(a.Spec.MaxReplicas), of, add)
		connections += int(a.Spec.MaxReplicas) * c.connectionsOf(a.Spec.ScaleTargetRef.Name, of)
	}
	for _, s := range c.scalers {
		checkMax(s.Name, s.Spec.MaxReplicaCount, of, add)
		connections += s.Spec.MaxReplicaCount * c.connectionsOf(s.Spec.ScaleTargetRef.Name, of)
		if s.Spec.Fallback == nil {
			add("%s: no fallback", s.Name)
		} else if s.Spec.Fallback.Behavior != "currentReplicasIfHigher" {
			add("%s: ends processes while nothing is known of the load", s.Name)
		}
		seesCPU := false
		for _, trigger := range s.Spec.Triggers {
			if trigger.Type == "cpu" {
				seesCPU = trigger.MetricType == "Utilization" && trigger.Metadata["value"] != ""
				continue
			}
			metric := metricName.FindString(trigger.Metadata["query"])
			if !slices.Contains(of.Metrics, metric) {
				add("%s: scaled on %q, which no service exports", s.Name, metric)
			}
		}
		if !seesCPU {
			add("%s: adds no process where CPU is short", s.Name)
		}
	}
	if free := connectionsMax - of.ReservedConnections; connections > free {
		add("the maxima need %d connections of %d", connections, free)
	}
}

// connectionsOf a process of a Deployment.
func (c *chart) connectionsOf(deployment string, of contracts) int {
	for _, d := range c.deployments {
		if d.Name == deployment {
			return of.Connections[d.Spec.Template.Spec.Containers[0].Name]
		}
	}
	return 0
}

func checkMax(name string, replicas int, of contracts, add func(string, ...any)) {
	if replicas > of.Partitions {
		add("%s: %d replicas for %d partitions", name, replicas, of.Partitions)
	}
}

func covers(selector *meta.LabelSelector, labels map[string]string) bool {
	for key, value := range selector.MatchLabels {
		if labels[key] != value {
			return false
		}
	}
	return true
}
