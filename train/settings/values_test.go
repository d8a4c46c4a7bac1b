package settings

import (
	"math"
	"strings"
	"testing"
)

func TestEvery(t *testing.T) {
	for _, test := range []struct {
		text string
		want Interval
		bad  bool
	}{
		{"10m", Interval{Seconds: 600}, false}, {"90s", Interval{Seconds: 90}, false}, {"1h30m", Interval{Seconds: 5400}, false},
		{"1000", Interval{Units: 1000}, false}, {"0", Interval{}, false}, {"0s", Interval{}, false},
		{"", Interval{}, true}, {"-1", Interval{}, true}, {"-1s", Interval{}, true}, {"often", Interval{}, true}, {"1.5", Interval{}, true}, {"10 m", Interval{}, true},
	} {
		var got Interval
		if err := got.UnmarshalText([]byte(test.text)); got.Units != test.want.Units || got.Seconds != test.want.Seconds || (err != nil) != test.bad {
			t.Errorf("%q: %+v, %v; want %+v", test.text, got, err, test.want)
		}
	}
}

func TestParseSize(t *testing.T) {
	for _, test := range []struct {
		text string
		want int64 // -1: an error
	}{
		{"", 0}, {"1B", 1}, {"500MB", 500e6}, {"4GB", 4e9}, {"4g", 4e9}, {"1.5 GiB", 3 << 29}, {"2TiB", 2 << 40}, {"64kb", 64e3},
		{"75%", 750}, {"0.1%", 1}, {"100%", 1000}, {"1e30GB", math.MaxInt64/2 + 1},
		{"4", -1}, {"GB", -1}, {"0GB", -1}, {"-1GB", -1}, {"infGB", -1}, {"nan%", -1}, {"4XB", -1}, {"%", -1}, {"4GBGB", -1},
	} {
		size, err := ParseSize(test.text)
		got := int64(0)
		if err == nil {
			got, err = size.Bytes(1000)
		}
		if (err != nil) != (test.want < 0) || err == nil && got != test.want {
			t.Errorf("%q: %d, %v; want %d", test.text, got, err, test.want)
		}
	}
	half, err := ParseSize("50%")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := half.Bytes(0); err == nil || !strings.Contains(err.Error(), "is not known") {
		t.Errorf("a part of what is not known: %v", err)
	}
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]string{
		"3": "3", "2,3, 4": "2,3,4", "1-5": "1,2,3,4,5", "2-3,7": "2,3,7", "4-4": "4",
		"": "", "0": "", "5-1": "", "1-": "", "-2": "", "1-2-3": "", "1-99999999": "", "2,,3": "",
	} {
		var n Numbers
		if err := n.UnmarshalText([]byte(text)); n.String() != want || (err == nil) != (want != "") {
			t.Errorf("%q: %s, %v; want %s", text, n, err, want)
		}
	}
}
