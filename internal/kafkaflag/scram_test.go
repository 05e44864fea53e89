package kafkaflag

import (
	"crypto/sha256"
	"strings"
	"testing"
)

// The exchange of RFC 7677.
const (
	challenge = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
	answer    = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
	final     = "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
)

func beginning(t *testing.T) *scram {
	t.Helper()
	s := &scram{hash: sha256.New, nonce: "rOprNGfwEbeRWgbNEkqO"}
	if err := s.Begin("user", "pencil", ""); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Step(""); err != nil || got != "n,,n=user,r=rOprNGfwEbeRWgbNEkqO" {
		t.Fatalf("begins with %q, %v", got, err)
	}
	return s
}

func TestTheExchangeIsThatOfTheStandard(t *testing.T) {
	s := beginning(t)
	if got, err := s.Step(challenge); err != nil || got != answer {
		t.Fatalf("answers %q, %v", got, err)
	}
	if _, err := s.Step(final); err != nil || !s.Done() {
		t.Errorf("done %v, %v", s.Done(), err)
	}
}

func TestAServerThatDoesNotKnowThePasswordIsFound(t *testing.T) {
	for _, said := range []string{"v=AAAA", "", "e=unknown-user", "v=%"} {
		s := beginning(t)
		if _, err := s.Step(challenge); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Step(said); err == nil {
			t.Errorf("%q is believed", said)
		}
	}
}

func TestAChallengeThatIsNoneIsRefused(t *testing.T) {
	for _, said := range []string{
		"", "x", strings.Replace(challenge, "i=4096", "i=1", 1), strings.Replace(challenge, "i=4096", "i=99999999", 1),
		strings.Replace(challenge, "r=rOpr", "r=xOpr", 1), strings.Replace(challenge, "s=W22", "s=%", 1),
		"r=rOprNGfwEbeRWgbNEkqO,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
	} {
		if got, err := beginning(t).Step(said); err == nil {
			t.Errorf("%q is answered with %q", said, got)
		}
	}
}

func TestANameIsNoPartOfAMessage(t *testing.T) {
	var s scram
	if err := s.Begin("a=b,r=x", "", ""); err != nil || !strings.HasPrefix(s.first, "n=a=3Db=2Cr=3Dx,r=") {
		t.Errorf("%q, %v", s.first, err)
	}
}
