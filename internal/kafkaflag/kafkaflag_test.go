package kafkaflag

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/IBM/sarama"
)

// parsed are the flags of a command line.
func parsed(t *testing.T, line ...string) *Flags {
	t.Helper()
	var f Flags
	set := flag.NewFlagSet("test", flag.ContinueOnError)
	f.Register(set)
	if err := set.Parse(line); err != nil {
		t.Fatal(err)
	}
	return &f
}

func TestWithoutFlagsThereIsNoConfiguration(t *testing.T) {
	if c, err := parsed(t).Sarama(); c != nil || err != nil {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestAPasswordIsInAFileOrInTheEnvironment(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("from file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	login := []string{"-sasl-mechanism", "PLAIN", "-sasl-user", "me"}
	if _, err := parsed(t, login...).Sarama(); err == nil || !strings.Contains(err.Error(), PasswordVariable) {
		t.Errorf("without a password: %v", err)
	}
	t.Setenv(PasswordVariable, "from environment")
	for want, line := range map[string][]string{"from environment": login, "from file": append(login, "-sasl-password-file", file)} {
		c, err := parsed(t, line...).Sarama()
		if err != nil || !c.Net.SASL.Enable || c.Net.SASL.User != "me" || c.Net.SASL.Password != want || c.Validate() != nil {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestEveryMechanismIsTakenBySarama(t *testing.T) {
	t.Setenv(PasswordVariable, "secret")
	for _, m := range []string{sarama.SASLTypePlaintext, sarama.SASLTypeSCRAMSHA256, sarama.SASLTypeSCRAMSHA512} {
		c, err := parsed(t, "-sasl-mechanism", m, "-sasl-user", "me", "-tls").Sarama()
		if err != nil || c.Validate() != nil || string(c.Net.SASL.Mechanism) != m || !c.Net.TLS.Enable {
			t.Errorf("%s: %v", m, err)
		}
	}
}

func TestFlagsThatSayTooLittleAreRefused(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"-tls-cert x", "-tls-key x", "-tls-cert x -tls-key x", "-tls-ca /does/not/exist", "-tls-ca " + empty,
		"-sasl-user me", "-sasl-mechanism PLAIN", "-sasl-password-file x", "-sasl-mechanism MD5 -sasl-user me",
		"-sasl-mechanism PLAIN -sasl-user me -sasl-password-file /does/not/exist",
	} {
		if c, err := parsed(t, strings.Fields(line)...).Sarama(); err == nil {
			t.Errorf("%s: %+v", line, c.Net)
		}
	}
}
