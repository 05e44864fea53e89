//go:build soak

package simtest_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/backstay-go/backstay/actors/internal/simtest"
)

var failedSeed = regexp.MustCompile(`seed (\d+) fails:\n\s+(.*)`)

// TestEveryRuleThatIsTakenOutOfTheRuntimeIsMissed builds the runtime without one
// rule after the other.
func TestEveryRuleThatIsTakenOutOfTheRuntimeIsMissed(t *testing.T) {
	for _, m := range mutants {
		t.Run(m.rule, func(t *testing.T) {
			out, err := m.try(t)
			found := failedSeed.FindStringSubmatch(out)
			switch {
			case strings.Contains(out, "[build failed]"):
				t.Fatalf("it does not compile:\n%s", out)
			case err == nil:
				t.Error("nothing was found")
			case found == nil:
				t.Errorf("it breaks, and not as a seed that fails:\n%.2000s", out)
			default:
				t.Logf("seed %s: %s", found[1], found[2])
			}
		})
	}
}

// try builds and runs the campaign with the mutant in the file's place.
func (m *mutant) try(t *testing.T) (string, error) {
	t.Helper()
	path, source := m.source(t)
	dir := t.TempDir()
	changed, overlay := filepath.Join(dir, filepath.Base(path)), filepath.Join(dir, "overlay.json")
	files, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{changed: []byte(source), overlay: files} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-overlay", overlay, "-timeout", "300s", "-run", "^TestRandomProgramsKeepEveryPropertyUnderRandomFaults$", ".")
	c.Env = append(os.Environ(), simtest.EnvSeeds+"=400")
	out, err := c.CombinedOutput()
	return string(out), err
}
