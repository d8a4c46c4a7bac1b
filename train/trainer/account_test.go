package trainer

import (
	"errors"
	"slices"
	"testing"
)

// TestAccount: one layout asks three accounts for its memory.
func TestAccount(t *testing.T) {
	layout := func(a *Account) (table []float32, ids []uint16) {
		table = a.Floats(ForTables, 1000)
		ids = Of[uint16](a, ForWork, 50)
		a.Take(ForWork, 900)
		return table, ids
	}
	want := []need{{ForTables, 4000}, {ForWork, 1000}}
	full := errors.New("full")
	upTo := func(limit int64) *Account {
		return NewAccount(func(a *Account) error {
			if a.Sum() > limit {
				return full
			}
			return nil
		})
	}
	dry, live, short := Dry(func(a *Account) { layout(a) }), upTo(5000), upTo(4999)
	if got := dry.needs; !slices.Equal(got, want) || dry.Sum() != 5000 || dry.Sum(ForWork) != 1000 {
		t.Errorf("dry: %v", got)
	}
	if table, ids := layout(live); len(table) != 1000 || len(ids) != 50 || live.Err() != nil || !slices.Equal(live.needs, want) {
		t.Errorf("live: %d, %d values, %v, %v", len(table), len(ids), live.needs, live.Err())
	}
	if _, ids := layout(short); len(ids) != 50 || !errors.Is(short.Err(), full) {
		t.Errorf("short: %d ids, %v", len(ids), short.Err())
	}
	if short.Floats(ForTables, 1) != nil {
		t.Error("memory after a refusal")
	}
	if table, ids := layout(nil); len(table) != 1000 || len(ids) != 50 {
		t.Errorf("none: %d, %d values", len(table), len(ids))
	}
	if table, _ := layout(&Account{}); table != nil {
		t.Error("a dry account gives memory")
	}
}
