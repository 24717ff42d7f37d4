// Package deploy checks the chart: rendered by helm itself, read strictly, held against what the sources say.
package deploy

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	apps "k8s.io/api/apps/v1"
	scaling "k8s.io/api/autoscaling/v2"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	net "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// What the chart uses of custom resources; a field that is not here is refused.
type scaledObject struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		ScaleTargetRef  struct{ Name string }
		MinReplicaCount int
		MaxReplicaCount int
		CooldownPeriod  int
		Fallback        *struct {
			FailureThreshold, Replicas int
			Behavior                   string
		}
		Triggers []struct {
			Type, MetricType string
			Metadata         map[string]string
		}
	}
}

type serviceMonitor struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Selector  meta.LabelSelector
		Endpoints []struct {
			Port, Path, Interval string
			Relabelings          []struct{ TargetLabel, Replacement string }
		}
	}
}

type rule struct {
	Alert, Record, Expr, For string
	Labels, Annotations      map[string]string
}

type prometheusRule struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Groups []struct {
			Name, Interval string
			Rules          []rule
		}
	}
}

type chart struct {
	deployments []*apps.Deployment
	jobs        []*batch.Job
	cronJobs    []*batch.CronJob
	services    []*core.Service
	budgets     []*policy.PodDisruptionBudget
	policies    []*net.NetworkPolicy
	scalers     []*scaledObject
	autoscalers []*scaling.HorizontalPodAutoscaler
	monitors    []*serviceMonitor
	ingresses   []*net.Ingress
	rules       []*prometheusRule
	dashboards  []*core.ConfigMap
}

// render takes one of the value sets of the chart, and flags of helm beside it.
func render(helm, folder, values string, flags ...string) (*chart, error) {
	file := filepath.Join(folder, values)
	given := append([]string{folder, "-f", file, "--set-json", ownAddresses}, flags...)
	if out, err := exec.Command(helm, append([]string{"lint", "--strict"}, given...)...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("lint: %s", out)
	}
	out, err := exec.Command(helm, append([]string{"template", "pixmesh"}, given...)...).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("template: %s", out)
	}
	rendered := &chart{}
	for _, document := range strings.Split("\n"+string(out), "\n---") {
		if err := rendered.read([]byte(document)); err != nil {
			return nil, err
		}
	}
	return rendered, nil
}

// read refuses a kind that no check knows and a field that its type does not have.
func (c *chart) read(document []byte) error {
	var head meta.TypeMeta
	if err := yaml.Unmarshal(document, &head); err != nil {
		return err
	}
	switch head.Kind {
	case "":
		return nil
	case "Deployment":
		return into(document, &c.deployments)
	case "Job":
		return into(document, &c.jobs)
	case "CronJob":
		return into(document, &c.cronJobs)
	case "Service":
		return into(document, &c.services)
	case "PodDisruptionBudget":
		return into(document, &c.budgets)
	case "NetworkPolicy":
		return into(document, &c.policies)
	case "ScaledObject":
		return into(document, &c.scalers)
	case "HorizontalPodAutoscaler":
		return into(document, &c.autoscalers)
	case "ServiceMonitor":
		return into(document, &c.monitors)
	case "Ingress":
		return into(document, &c.ingresses)
	case "PrometheusRule":
		return into(document, &c.rules)
	case "ConfigMap":
		return into(document, &c.dashboards)
	case "ServiceAccount":
		return into(document, &[]*core.ServiceAccount{})
	}
	return fmt.Errorf("a kind that no check knows: %s", head.Kind)
}

func into[Object any](document []byte, list *[]*Object) error {
	object := new(Object)
	if err := yaml.UnmarshalStrict(document, object); err != nil {
		return fmt.Errorf("%w in\n%s", err, document)
	}
	*list = append(*list, object)
	return nil
}
