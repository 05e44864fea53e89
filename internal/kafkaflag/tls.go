package kafkaflag

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"github.com/IBM/sarama"
)

// secure sets what the flags of TLS say: any of them means TLS.
func (f *Flags) secure(c *sarama.Config) error {
	if !f.tls && f.ca == "" && f.cert == "" && f.key == "" {
		return nil
	}
	if (f.cert == "") != (f.key == "") {
		return errors.New("-tls-cert and -tls-key belong together")
	}
	c.Net.TLS.Enable = true
	c.Net.TLS.Config = &tls.Config{MinVersion: tls.VersionTLS12}
	if f.ca != "" {
		pool, err := authorities(f.ca)
		if err != nil {
			return err
		}
		c.Net.TLS.Config.RootCAs = pool
	}
	if f.cert != "" {
		own, err := tls.LoadX509KeyPair(f.cert, f.key)
		if err != nil {
			return fmt.Errorf("-tls-cert, -tls-key: %w", err)
		}
		c.Net.TLS.Config.Certificates = []tls.Certificate{own}
	}
	return nil
}

func authorities(file string) (*x509.CertPool, error) {
	data, err := os.ReadFile(file) //nolint:gosec // whoever calls names it
	if err != nil {
		return nil, fmt.Errorf("-tls-ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("-tls-ca: %s has no certificate in PEM", file)
	}
	return pool, nil
}
