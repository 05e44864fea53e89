// Command backstay checks, explains and imports policy files, asks nodes of
// actors how they are, and goes through dead letters.
//
// It ends with 0 if all is well, with 1 if a file has faults or cannot be read
// or written, or a node does not do what it is asked for, and with 2 if it was
// called in a wrong way.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/backstay-go/backstay/middleware/policyfile"
)

const usage = `usage: backstay <command> [arguments]

Policy files say how calls survive failure: timeouts, retries, breakers, limits.

  backstay check FILE...             report every fault of the files
  backstay explain FILE [TARGET...]  show every value, where it comes from, and
                                     the load of the worst case; the TARGET
                                     server is what stands before the handlers
  backstay schema [FILE]             write the JSON Schema of policy files, for
                                     editors, to FILE or to standard output
  backstay import FILE               write the policies of a gRPC service config
                                     document as a policy file to standard
                                     output, and what is different to standard
                                     error
  backstay actors inspect [-json] URL  show how a node of actors is: partitions,
                                     mailboxes, what runs and waits for whom; URL
                                     is that of its handler of package admin
  backstay actors drain [-json] URL  have it hand its actors over, and wait until
                                     it has
  backstay actors deadletters -kafka HOST:PORT -app NAME [-type T] [-id ID]
                 [-letter L] [-json]
                                     list the dead letters of an application, or
                                     those of a type, an actor, or one
  backstay actors requeue -kafka HOST:PORT -app NAME {-type T | -letter L}
                 [-id ID]            make their requests again, as tells, of at
                                     least one; -type and -letter can be
                                     combined; letters stay in the topic, so it
                                     can be done twice, but not within the window
                                     of the application
    both with brokers that want TLS or a password:
                 [-tls] [-tls-ca FILE] [-tls-cert FILE -tls-key FILE]
                 [-sasl-mechanism PLAIN|SCRAM-SHA-256|SCRAM-SHA-512]
                 [-sasl-user NAME] [-sasl-password-file FILE]
                                     the password is in the file, or in the
                                     variable BACKSTAY_SASL_PASSWORD
  backstay help                      show this, as -h does after any command

A file is YAML, or JSON where its name ends in .json.

Exit status: 0 all is well, 1 faults, 2 wrong usage.
`

// The exit statuses.
const (
	well   = 0
	faulty = 1
	misuse = 2
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run does what args ask for and returns the exit status.
func run(args []string, out, errs io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(errs, usage)
		return misuse
	}
	switch command, rest := args[0], args[1:]; {
	case command == "help", slices.ContainsFunc(args, isHelp):
		fmt.Fprint(out, usage)
		return well
	case command == "actors":
		return askActors(rest, out, errs)
	case slices.ContainsFunc(args, isFlag):
		return wrong(errs, "unknown flag %s", args[slices.IndexFunc(args, isFlag)])
	case command == "check" && len(rest) > 0:
		return check(rest, out, errs)
	case command == "explain" && len(rest) > 0:
		return explain(rest[0], rest[1:], out, errs)
	case command == "schema" && len(rest) <= 1:
		return schema(rest, out, errs)
	case command == "import" && len(rest) == 1:
		return importConfig(rest[0], out, errs)
	case slices.Contains(commands, command):
		return wrong(errs, "wrong number of arguments to %s", command)
	default:
		return wrong(errs, "unknown command %q; known: %s", command, strings.Join(commands, ", "))
	}
}

var commands = []string{"check", "explain", "schema", "import", "actors", "help"}

func isHelp(arg string) bool { return arg == "-h" || arg == "-help" || arg == "--help" }

// isFlag reports whether arg is a flag, of which there are none; - alone is
// standard output.
func isFlag(arg string) bool { return len(arg) > 1 && arg[0] == '-' }

// wrong says how the command was called in a wrong way.
func wrong(errs io.Writer, format string, args ...any) int {
	fmt.Fprintf(errs, "backstay: "+format+" (backstay help shows what there is)\n", args...)
	return misuse
}

// check reports what is wrong with files, and what may not be meant.
func check(files []string, out, errs io.Writer) int {
	status := well
	for _, name := range files {
		p, err := policyfile.Load(name)
		if err != nil {
			report(errs, name, err)
			status = faulty
			continue
		}
		for _, n := range p.Notes() {
			fmt.Fprintf(out, "note: %v\n", n)
		}
		fmt.Fprintf(out, "%s: ok, %s\n", name, contents(p))
	}
	return status
}

// contents says what a file is about.
func contents(p *policyfile.Policies) string {
	targets := counted(len(p.Names()), "target")
	switch _, serves := p.LookupServer(); {
	case !serves:
		return targets
	case len(p.Names()) == 0:
		return "a server"
	default:
		return targets + " and a server"
	}
}

// report lists the faults of one file.
func report(errs io.Writer, name string, err error) {
	faults, ok := errors.AsType[*policyfile.Error](err)
	if !ok {
		fmt.Fprintf(errs, "%v\n", err)
		return
	}
	for i := range faults.Faults {
		f := faults.Faults[i]
		suggestion := f.Suggestion
		f.Suggestion = ""
		fmt.Fprintf(errs, "%v\n", &f)
		if suggestion != "" {
			fmt.Fprintf(errs, "\t%s\n", suggestion)
		}
	}
	fmt.Fprintf(errs, "%s: %s\n", name, counted(len(faults.Faults), "fault"))
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func explain(file string, targets []string, out, errs io.Writer) int {
	p, err := policyfile.Load(file)
	if err != nil {
		report(errs, file, err)
		return faulty
	}
	if err := p.Explain(out, targets...); err != nil {
		fmt.Fprintln(errs, err)
		return faulty
	}
	return well
}

func schema(to []string, out, errs io.Writer) int {
	if len(to) == 0 || to[0] == "-" {
		_, err := out.Write(policyfile.Schema())
		return failed(errs, err)
	}
	return failed(errs, os.WriteFile(to[0], policyfile.Schema(), 0o644)) //nolint:gosec // it is for everybody to read
}

// importConfig writes a gRPC service config as a policy file.
func importConfig(file string, out, errs io.Writer) int {
	data, err := os.ReadFile(file) //nolint:gosec // whoever calls names it
	if err != nil {
		return failed(errs, err)
	}
	p, notes, err := policyfile.ImportServiceConfig(file, data)
	if err != nil {
		report(errs, file, err)
		return faulty
	}
	for _, n := range notes {
		fmt.Fprintf(errs, "note: %v\n", n)
	}
	return failed(errs, p.Write(out))
}

func failed(errs io.Writer, err error) int {
	if err == nil {
		return well
	}
	fmt.Fprintf(errs, "backstay: %v\n", err)
	return faulty
}
