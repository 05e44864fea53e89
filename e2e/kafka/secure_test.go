package kafka_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"flag"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/backstay-go/backstay/e2e/brokers"
	"github.com/backstay-go/backstay/internal/kafkaflag"
)

// certified makes a certificate for this machine that is its own authority, and
// returns the file it is in, too.
func certified(t *testing.T) (file string, own tls.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// The command reaches brokers that want TLS and a password, by every mechanism,
// and says what is wrong where it does not.
func TestTheCommandReachesBrokersThatWantTLSAndAPassword(t *testing.T) {
	ca, own := certified(t)
	const user, password = "clerk", "a, secret=of many signs"
	addrs := brokers.StartFake(t, kfake.TLS(&tls.Config{Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS12}), kfake.EnableSASL(),
		kfake.Superuser("PLAIN", user, password), kfake.Superuser("SCRAM-SHA-256", user, password), kfake.Superuser("SCRAM-SHA-512", user, password))
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	program := built(t)
	reach(t, addrs, ca, user, file)
	list := []string{"actors", "deadletters", "-kafka", strings.Join(addrs, ","), "-app", "secure"}
	for _, c := range []struct{ flags, says string }{
		{"-tls-ca " + ca + " -sasl-mechanism PLAIN -sasl-user clerk -sasl-password-file " + file, "0 dead letters"},
		{"-tls-ca " + ca + " -sasl-mechanism SCRAM-SHA-256 -sasl-user clerk", "0 dead letters"},
		{"-tls-ca " + ca + " -sasl-mechanism SCRAM-SHA-512 -sasl-user clerk", "0 dead letters"},
		{"-tls -sasl-mechanism PLAIN -sasl-user clerk", "backstay: kafka: connecting"},
		{"-tls-ca " + ca + " -sasl-mechanism SCRAM-SHA-512 -sasl-user thief", "backstay: kafka: connecting"},
	} {
		cmd := exec.CommandContext(t.Context(), program, append(list, strings.Fields(c.flags)...)...) //nolint:gosec // our own command
		cmd.Env = append(os.Environ(), kafkaflag.PasswordVariable+"="+password)
		if out, _ := cmd.CombinedOutput(); !strings.Contains(string(out), c.says) || strings.Contains(string(out), password) {
			t.Errorf("%s: %s", c.flags, out)
		}
	}
}

// reach makes the topics, in the way that the flags say.
func reach(t *testing.T, addrs []string, ca, user, file string) {
	t.Helper()
	var f kafkaflag.Flags
	set := flag.NewFlagSet("reach", flag.ContinueOnError)
	f.Register(set)
	if err := set.Parse([]string{"-tls-ca", ca, "-sasl-mechanism", "SCRAM-SHA-512", "-sasl-user", user, "-sasl-password-file", file}); err != nil {
		t.Fatal(err)
	}
	c := config(addrs, "secure")
	var err error
	if c.Sarama, err = f.Sarama(); err != nil {
		t.Fatal(err)
	}
	if at, err := put(t, opened(t, c), "x"); err != nil || at.Offset != 0 {
		t.Errorf("%+v, %v", at, err)
	}
}
