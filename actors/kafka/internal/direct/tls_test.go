package direct

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// certificate is one for 127.0.0.1, and the pool of those who issued it.
func certificate(t *testing.T) (*tls.Config, *x509.CertPool) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return &tls.Config{Certificates: s.TLS.Certificates, MinVersion: tls.VersionTLS13}, pool
}

// loopback has both sides on the loopback.
func loopback(t *testing.T, owners, clients *tls.Config) (s *Server, k *Client, came chan Letter, told chan error) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is closed in the end
	if err != nil {
		t.Fatal(err)
	}
	came, told = make(chan Letter, 1000), make(chan error, 1000)
	c := (&world{}).config()
	c.TLS = owners
	s = Serve(listener, c, func(Letter) {})
	c.TLS = clients
	c.Tell = func(_ string, err error) { told <- err }
	k = NewClient(c, anna, func(m Letter) { came <- m })
	k.Follow(map[string]bool{listener.Addr().String(): true})
	t.Cleanup(func() { k.Close(); s.Close() })
	return s, k, came, told
}

func TestAnswersComeOverTLS(t *testing.T) {
	owners, pool := certificate(t)
	s, k, came, told := loopback(t, owners, &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13})
	if err := <-told; err != nil || k.Connected() > 1 {
		t.Fatal(err)
	}
	large := letter(strings.Repeat("x", 500<<10))
	for !s.Answer(anna, large) {
		time.Sleep(time.Millisecond) // until the owner knows that the client does
	}
	for range 10 {
		s.Answer(anna, letter("small"))
	}
	if m := <-came; !bytes.Equal(m.Data, large.Data) {
		t.Errorf("%d bytes came", len(m.Data))
	}
	for range 10 {
		if m := <-came; string(m.Data) != "small" {
			t.Errorf("%d bytes came", len(m.Data))
		}
	}
}

func TestAnOwnerWithoutAKnownCertificateIsNotBelieved(t *testing.T) {
	owners, _ := certificate(t)
	s, _, _, told := loopback(t, owners, &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS13})
	if err := <-told; err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Error(err)
	}
	for s.Counts().Fault == 0 {
		time.Sleep(time.Millisecond) // it knows a little later
	}
}

func TestTLSOnTheClientsSideOnlyIsToldSo(t *testing.T) {
	_, _, _, told := loopback(t, nil, &tls.Config{MinVersion: tls.VersionTLS13})
	if err := <-told; err == nil || !strings.Contains(err.Error(), "TLS") {
		t.Error(err)
	}
}
