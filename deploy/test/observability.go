package deploy

import (
	"encoding/json"
	"regexp"
	"slices"
)

// What the sidecar of Grafana's chart looks for where nothing else is said.
const dashboardLabel = "grafana_dashboard"

var serviceInRule = regexp.MustCompile(`up\{service="([\w-]+)"\}`)

// checkRules: an alert leads somebody to a runbook, and no service that it is about lacks what measures it.
func (c *chart) checkRules(add func(string, ...any)) {
	for _, object := range c.rules {
		for _, group := range object.Spec.Groups {
			for _, r := range group.Rules {
				c.checkRule(r, add)
			}
		}
	}
}

func (c *chart) checkRule(r rule, add func(string, ...any)) {
	if (r.Alert == "") == (r.Record == "") || r.Expr == "" {
		add("a rule that is no alert and no record: %s%s", r.Alert, r.Record)
	}
	if r.Alert != "" && (r.Annotations["runbook"] == "" || r.Labels["severity"] == "") {
		add("alert %s: no runbook or severity", r.Alert)
	}
	for _, match := range serviceInRule.FindAllStringSubmatch(r.Expr, -1) {
		if !slices.Contains(c.monitored(), match[1]) {
			add("alert %s: no monitor has targets with the label service=%s", r.Alert, match[1])
		}
	}
}

// monitored are the services by whose names targets are labelled.
func (c *chart) monitored() []string {
	var names []string
	for _, monitor := range c.monitors {
		for _, endpoint := range monitor.Spec.Endpoints {
			for _, relabeling := range endpoint.Relabelings {
				if relabeling.TargetLabel == "service" {
					names = append(names, relabeling.Replacement)
				}
			}
		}
	}
	return names
}

func (c *chart) checkDashboards(add func(string, ...any)) {
	for _, object := range c.dashboards {
		if object.Labels[dashboardLabel] == "" {
			add("%s: no sidecar finds it", object.Name)
		}
		for file, text := range object.Data {
			var board struct {
				UID    string
				Title  string
				Panels []any
			}
			if err := json.Unmarshal([]byte(text), &board); err != nil || board.UID == "" || board.Title == "" || len(board.Panels) == 0 {
				add("%s: no dashboard: %s", object.Name, file)
			}
		}
	}
}
