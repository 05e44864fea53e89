package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"sync"

	goredis "github.com/redis/go-redis/v9"

	"github.com/backstay-go/backstay/actors/journal"
)

// DefaultPrefix comes before every key.
const DefaultPrefix = "backstay:actors:"

// Config is the data of a [Store]. The zero value is the default.
type Config struct {
	// Prefix comes before every key in Redis, so that applications that share
	// one do not share keys. Empty means [DefaultPrefix].
	Prefix string `json:"prefix,omitempty" yaml:"prefix,omitempty"`
}

// Errors of a [Store], beside those of the client.
var (
	// ErrOutdated: a save as of a higher offset has begun.
	ErrOutdated = errors.New("redis: a newer owner saves")
	// ErrLost: Redis does not have what it acknowledged.
	ErrLost = errors.New("redis: what was saved is lost; restore it")
)

// Store is a journal.StateStore in Redis. It has no goroutine and nothing to
// close; its client belongs to whoever made it. It is safe for concurrent use.
type Store struct {
	prefix string
	client Client

	mu    sync.Mutex
	known map[journal.Partition]int64 // saved as of, as far as this process knows
}

var _ journal.StateStore = (*Store)(nil)

// New returns a store over client.
func New(c Config, client Client) (*Store, error) {
	if client == nil {
		return nil, errors.New("redis: New needs a client")
	}
	return &Store{prefix: cmp.Or(c.Prefix, DefaultPrefix), client: client, known: make(map[journal.Partition]int64)}, nil
}

// marks, index and row are keys; see script.go.
func (s *Store) marks(p journal.Partition) string {
	return fmt.Sprintf("%s{%s/%d}", s.prefix, url.PathEscape(p.Type), p.Index)
}
func (s *Store) index(p journal.Partition) string             { return s.marks(p) + "!" }
func (s *Store) row(p journal.Partition, actor string) string { return s.marks(p) + ":" + actor }

// least is the offset that must have been saved.
func (s *Store) least(p journal.Partition) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[p]
}

func (s *Store) learn(p journal.Partition, at int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[p] = max(s.known[p], at)
}

// Saved reads a mark.
func (s *Store) Saved(ctx context.Context, p journal.Partition) (int64, error) {
	at, err := s.client.HGet(ctx, s.marks(p), "saved").Int64()
	if errors.Is(err, goredis.Nil) {
		err = nil
	}
	if err == nil {
		s.learn(p, at)
	}
	return at, failed(p, err)
}

// Load reads a row, in one round trip.
func (s *Store) Load(ctx context.Context, p journal.Partition, actor string) (journal.Row, bool, error) {
	reply, err := load.run(ctx, s.client, []string{s.marks(p), s.row(p, actor)}, s.least(p))
	if err != nil {
		return journal.Row{}, false, failed(p, err)
	}
	fields, ok := reply.([]any)
	if !ok {
		return journal.Row{}, false, failed(p, ErrLost)
	}
	row, err := readRow(fields)
	return row, err == nil && len(fields) > 0, failed(p, err)
}

// readRow sorts what HGETALL returned.
func readRow(fields []any) (row journal.Row, err error) {
	for i := 0; i+1 < len(fields); i += 2 {
		name, isText := fields[i].(string)
		value, isBytes := fields[i+1].(string)
		switch {
		case !isText || !isBytes:
			return row, fmt.Errorf("a row has %T and %T", fields[i], fields[i+1])
		case name == "":
			if row.At, err = strconv.ParseInt(value, 10, 64); err != nil {
				return row, err
			}
		default:
			row.Cells = append(row.Cells, journal.Cell{Name: name, Value: []byte(value)})
		}
	}
	slices.SortFunc(row.Cells, func(a, b journal.Cell) int { return cmp.Compare(a.Name, b.Name) })
	return row, nil
}

// List reads the index.
func (s *Store) List(ctx context.Context, p journal.Partition, after string, limit int) ([]string, error) {
	from := "-"
	if after != "" {
		from = "(" + after
	}
	all, err := s.client.ZRangeByLex(ctx, s.index(p), &goredis.ZRangeBy{Min: from, Max: "+", Count: int64(limit)}).Result()
	return all, failed(p, err)
}

// Save changes rows, in one round trip if they are few.
func (s *Store) Save(ctx context.Context, p journal.Partition, at int64, changes []journal.Change) error {
	marks := []string{s.marks(p), s.index(p)}
	all := s.batches(p, changes)
	for i := range all {
		b := &all[i]
		last := 0
		if i == len(all)-1 {
			last = 1
		}
		reply, err := save.run(ctx, s.client, append(slices.Clip(marks), b.keys...), append([]any{at, s.least(p), last}, b.args...)...)
		switch {
		case err != nil:
			return failed(p, err)
		case reply == int64(0):
			return failed(p, ErrOutdated)
		case reply == int64(-1):
			return failed(p, ErrLost)
		}
	}
	s.learn(p, at)
	return nil
}

func failed(p journal.Partition, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("actors/redis: %v: %w", p, err)
}
