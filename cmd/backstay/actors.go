package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/backstay-go/backstay/actors/admin"
	"github.com/backstay-go/backstay/actors/inspect"
)

// askFor is how long a node may take to answer. Draining takes as long as its
// methods, and the node bounds it.
const askFor = 10 * time.Second

// maxAnswer bounds what is read of an answer.
const maxAnswer = 64 << 20

// actorCommands are what can be asked of a node of actors, by its address.
var actorCommands = map[string]func(node address, raw bool, out io.Writer) error{
	"inspect": inspectNode,
	"drain":   drainNode,
}

// askActors asks a node of actors through package admin, or the log of an
// application for its dead letters.
func askActors(args []string, out, errs io.Writer) int {
	if len(args) > 0 && letterCommands[args[0]] != nil {
		return askLetters(args[0], args[1:], out, errs)
	}
	isRaw := func(arg string) bool { return arg == "-json" || arg == "--json" }
	raw := slices.ContainsFunc(args, isRaw)
	args = slices.DeleteFunc(slices.Clone(args), isRaw)
	if i := slices.IndexFunc(args, isFlag); i >= 0 {
		return wrong(errs, "unknown flag %s", args[i])
	}
	if len(args) == 0 || actorCommands[args[0]] == nil {
		return wrong(errs, "actors needs one of inspect, drain, deadletters, requeue")
	}
	if len(args) != 2 {
		return wrong(errs, "wrong number of arguments to actors %s", args[0])
	}
	return failed(errs, actorCommands[args[0]](addressOf(args[1]), raw, out))
}

// address is where a node's handler is, without a slash at its end.
type address string

func addressOf(url string) address {
	if !strings.Contains(url, "://") {
		url = "http://" + url
	}
	return address(strings.TrimRight(url, "/"))
}

// inspectNode shows how a node is.
func inspectNode(node address, raw bool, out io.Writer) error {
	ctx, cancel := context.WithTimeout(context.Background(), askFor)
	defer cancel()
	data, _, err := node.inspect(ctx)
	if err != nil {
		return err
	}
	if raw {
		_, err := out.Write(data)
		return err
	}
	var n inspect.Node
	if err := json.Unmarshal(data, &n); err != nil {
		return fmt.Errorf("the answer is not that of a node of actors: %w", err)
	}
	return showNode(out, &n)
}

// drainNode has a node hand its actors over, and waits until it has.
func drainNode(node address, raw bool, out io.Writer) error {
	ctx, cancel := context.WithTimeout(context.Background(), askFor)
	defer cancel()
	_, token, err := node.inspect(ctx)
	if err != nil {
		return err
	}
	data, err := node.drain(token)
	if err != nil {
		return err
	}
	if raw {
		_, err := out.Write(data)
		return err
	}
	var d admin.Drained
	if err := json.Unmarshal(data, &d); err != nil {
		return fmt.Errorf("the answer is not that of a node of actors: %w", err)
	}
	if !d.Drained {
		return errors.New("drained, but not well:\n\t" + strings.Join(d.Problems, "\n\t"))
	}
	_, err = fmt.Fprintln(out, "drained: the process may be stopped")
	return err
}

// inspect returns how the node is, and a token to drain it with; "" where who
// asks must not.
func (a address) inspect(ctx context.Context) (data []byte, token string, err error) {
	r, err := a.ask(ctx, http.MethodGet, "/inspect", "")
	if err != nil {
		return nil, "", err
	}
	if r.code != http.StatusOK {
		return nil, "", r.refusal()
	}
	return r.data, r.token, nil
}

// drain waits for as long as the node does.
func (a address) drain(token string) ([]byte, error) {
	r, err := a.ask(context.Background(), http.MethodPost, "/drain", token)
	if err != nil {
		return nil, err
	}
	if r.code != http.StatusOK && r.code != http.StatusInternalServerError {
		return nil, r.refusal()
	}
	return r.data, nil
}

// reply is an answer, read to its end.
type reply struct {
	from, status, token string
	code                int
	data                []byte
}

// ask sends a request. Whoever calls the command says where to.
func (a address) ask(ctx context.Context, method, path, token string) (*reply, error) {
	req, err := http.NewRequestWithContext(ctx, method, string(a)+path, http.NoBody) //nolint:gosec // see above
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(admin.TokenHeader, token)
	resp, err := http.DefaultClient.Do(req) //nolint:gosec // see above
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return &reply{
		from: req.URL.Redacted(), status: resp.Status, code: resp.StatusCode, token: resp.Header.Get(admin.TokenHeader), data: data,
	}, err
}

// refusal is an answer that is none of what was asked for.
func (r *reply) refusal() error {
	said, _, _ := strings.Cut(strings.TrimSpace(string(r.data)), "\n")
	const longest = 200
	return fmt.Errorf("%s answers %s: %s", r.from, r.status, said[:min(len(said), longest)])
}
