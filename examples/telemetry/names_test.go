package main

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// What is asked of Prometheus in the two files has to be there: names that
// nobody exports make empty panels, and alerts that never fire.
func TestEveryNameInTheDashboardAndTheAlertsIsExported(t *testing.T) {
	metrics, labels := exported(t)
	used := make(map[string]bool)
	for _, file := range []struct {
		name    string
		queries []string
	}{
		{"grafana.json", dashboardQueries(t)},
		{"alerts.yaml", alertQueries(t)},
	} {
		if len(file.queries) < 8 {
			t.Errorf("%s has %d queries", file.name, len(file.queries))
		}
		for _, query := range file.queries {
			names, by := namesIn(query)
			if len(names) == 0 || !balanced(query) {
				t.Errorf("%s: no query: %s", file.name, query)
			}
			for _, name := range names {
				used[name] = true
				if !slices.Contains(metrics, name) {
					t.Errorf("%s asks for the metric %s, which is not exported: %s", file.name, name, query)
				}
			}
			for _, label := range by {
				if !slices.Contains(labels, label) {
					t.Errorf("%s asks for the label %s, which no metric has: %s", file.name, label, query)
				}
			}
		}
	}
	for _, name := range metrics {
		family := strings.TrimSuffix(strings.TrimSuffix(name, "_sum"), "_count")
		if !used[name] && !used[family+"_bucket"] {
			t.Errorf("nothing shows %s", name)
		}
	}
}

// exported plays the day and returns the names that a scrape finds.
func exported(t *testing.T) (metrics, labels []string) {
	t.Helper()
	p, err := newProgram(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.close(); err != nil {
			t.Error(err)
		}
	}()
	if err := p.live(t.Context(), new(bytes.Buffer)); err != nil {
		t.Fatal(err)
	}
	found, err := p.scrape(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range found {
		name, rest, _ := strings.Cut(line, "{")
		metrics = append(metrics, name)
		for _, label := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(rest, -1) {
			labels = append(labels, label[1])
		}
	}
	slices.Sort(metrics)
	return slices.Compact(metrics), append(labels, "job", "instance") // which Prometheus adds
}

var (
	matchers = regexp.MustCompile(`\{[^}]*\}`)
	groups   = regexp.MustCompile(`\b(?:by|on|without|ignoring|group_left|group_right)\s*\(([^)]*)\)`)
	asked    = regexp.MustCompile(`^label_values\((.*), (\w+)\)$`)
	ours     = regexp.MustCompile(`\bbackstay_\w+`)
	matched  = regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)\s*"`)
	names    = regexp.MustCompile(`\w+`)
)

// namesIn returns the metrics of a query, and the labels that it names.
func namesIn(query string) (metrics, labels []string) {
	if m := asked.FindStringSubmatch(query); m != nil {
		query, labels = m[1], m[2:]
	}
	for _, m := range matched.FindAllStringSubmatch(query, -1) {
		labels = append(labels, m[1])
	}
	query = matchers.ReplaceAllString(query, "")
	for _, m := range groups.FindAllStringSubmatch(query, -1) {
		labels = append(labels, names.FindAllString(m[1], -1)...)
	}
	labels = slices.DeleteFunc(labels, func(l string) bool { return l == "le" }) // of buckets, which are there
	return ours.FindAllString(groups.ReplaceAllString(query, ""), -1), labels
}

func balanced(query string) bool {
	for _, pair := range []string{"()", "{}", "[]"} {
		if strings.Count(query, pair[:1]) != strings.Count(query, pair[1:]) {
			return false
		}
	}
	return true
}

// dashboardQueries returns what the panels, annotations and variables ask.
func dashboardQueries(t *testing.T) (all []string) {
	t.Helper()
	type query struct{ Expr string }
	var dashboard struct {
		Panels []struct {
			ID      int
			Type    string
			Targets []query
		}
		Annotations struct{ List []query }
		Templating  struct {
			List []struct{ Type, Definition string }
		}
	}
	data, err := os.ReadFile("grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &dashboard); err != nil {
		t.Fatal(err)
	}
	for i, p := range dashboard.Panels {
		if p.ID != i+1 || p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("panel %d has the ID %d and %d queries", i+1, p.ID, len(p.Targets))
		}
		for _, q := range p.Targets {
			all = append(all, q.Expr)
		}
	}
	for _, q := range dashboard.Annotations.List {
		all = append(all, q.Expr)
	}
	for _, v := range dashboard.Templating.List {
		if v.Type == "query" {
			all = append(all, v.Definition)
		}
	}
	return all
}

// alertQueries returns what the rules ask. Keys that Prometheus does not know
// are faults, as they are to it.
func alertQueries(t *testing.T) (all []string) {
	t.Helper()
	var rules struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr string
				For         string
				Labels      map[string]string
				Annotations map[string]string
			}
		}
	}
	data, err := os.ReadFile("alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(&rules); err != nil {
		t.Fatal(err)
	}
	for _, group := range rules.Groups {
		for _, r := range group.Rules {
			if r.Alert == "" || r.Labels["severity"] == "" || r.Annotations["summary"] == "" {
				t.Errorf("a rule without name, severity or summary: %+v", r)
			}
			all = append(all, r.Expr)
		}
	}
	return all
}

func TestNamesAreFoundInQueries(t *testing.T) {
	for query, want := range map[string]string{
		`sum by (backstay_policy, le) (rate(backstay_a_total{backstay_x="(1)"}[5m])) / on (backstay_k) backstay_b > 1`: "backstay_a_total backstay_b | backstay_x backstay_policy backstay_k",
		`label_values(backstay_a_total{backstay_x=~"$x"}, backstay_key)`:                                               "backstay_a_total | backstay_key backstay_x",
		`2 * up`: " | ",
	} {
		metrics, labels := namesIn(query)
		if got := strings.Join(metrics, " ") + " | " + strings.Join(labels, " "); got != want {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
}
