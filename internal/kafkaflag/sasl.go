package kafkaflag

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/IBM/sarama"
	"github.com/xdg-go/scram"
)

// authenticate sets what the flags of SASL say.
func (f *Flags) authenticate(c *sarama.Config) error {
	if f.mechanism == "" && f.user == "" && f.passwordFile == "" {
		return nil
	}
	if f.mechanism == "" || f.user == "" {
		return errors.New("-sasl-mechanism and -sasl-user belong together")
	}
	s := &c.Net.SASL
	switch s.Mechanism = sarama.SASLMechanism(f.mechanism); s.Mechanism {
	case sarama.SASLTypePlaintext:
	case sarama.SASLTypeSCRAMSHA256:
		s.SCRAMClientGeneratorFunc = func() sarama.SCRAMClient { return &conversation{hash: scram.SHA256} }
	case sarama.SASLTypeSCRAMSHA512:
		s.SCRAMClientGeneratorFunc = func() sarama.SCRAMClient { return &conversation{hash: scram.SHA512} }
	default:
		return fmt.Errorf("-sasl-mechanism %q is none of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512", f.mechanism)
	}
	password, err := f.password()
	s.Enable, s.User, s.Password = true, f.user, password
	return err
}

// password is that of the file, without the end of its line, or of the
// environment.
func (f *Flags) password() (string, error) {
	if f.passwordFile != "" {
		data, err := os.ReadFile(f.passwordFile)
		if err != nil {
			return "", fmt.Errorf("-sasl-password-file: %w", err)
		}
		return strings.TrimRight(string(data), "\r\n"), nil
	}
	password, ok := os.LookupEnv(PasswordVariable)
	if !ok {
		return "", fmt.Errorf("-sasl-user needs a password: in %s, or in the file of -sasl-password-file", PasswordVariable)
	}
	return password, nil
}
