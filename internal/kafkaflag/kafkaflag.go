// Package kafkaflag has the flags by which the programs of this module reach a
// Kafka that wants TLS or a password:
//
//	-tls                 TLS, with the certificate authorities of the system
//	-tls-ca FILE         with those of a file, in PEM
//	-tls-cert FILE       the program's own certificate, in PEM
//	-tls-key FILE        and its key
//	-sasl-mechanism M    PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512
//	-sasl-user NAME
//	-sasl-password-file FILE
//
// The password is in a file, or in the environment variable
// BACKSTAY_SASL_PASSWORD: flags can be seen by everybody on the machine.
package kafkaflag

import (
	"flag"

	"github.com/IBM/sarama"
)

// PasswordVariable is the environment variable of the password.
const PasswordVariable = "BACKSTAY_SASL_PASSWORD" //nolint:gosec // its name, and no password

// Flags are the values. The zero value is neither TLS nor a password.
type Flags struct {
	tls           bool
	ca, cert, key string

	mechanism, user, passwordFile string
}

// Register has a set of flags set f.
func (f *Flags) Register(set *flag.FlagSet) {
	set.BoolVar(&f.tls, "tls", false, "on Kafka: TLS, with the system's certificate authorities")
	set.StringVar(&f.ca, "tls-ca", "", "on Kafka: TLS, with the certificate authorities in a `file`")
	set.StringVar(&f.cert, "tls-cert", "", "on Kafka: TLS, with our certificate in a `file`")
	set.StringVar(&f.key, "tls-key", "", "on Kafka: the `file` of its key")
	set.StringVar(&f.mechanism, "sasl-mechanism", "", "on Kafka: `how` to log in: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512")
	set.StringVar(&f.user, "sasl-user", "", "on Kafka: the `name` to log in with; the password is in "+PasswordVariable)
	set.StringVar(&f.passwordFile, "sasl-password-file", "", "on Kafka: or in a `file`")
}

// Sarama returns what the flags say as the configuration of a client, nil if they
// say nothing. It reads the files.
func (f *Flags) Sarama() (*sarama.Config, error) {
	if *f == (Flags{}) {
		return nil, nil //nolint:nilnil // the default is none
	}
	c := sarama.NewConfig()
	c.Producer.RequiredAcks = sarama.WaitForAll // or package kafka refuses it
	if err := f.secure(c); err != nil {
		return nil, err
	}
	return c, f.authenticate(c)
}
