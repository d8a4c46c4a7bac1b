package embedding

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// checkParse compares parseFloat with strconv.
func checkParse(t *testing.T, s string) {
	t.Helper()
	got, n, err := parseFloat([]byte(s))
	want, wantErr := strconv.ParseFloat(s, 32)
	if wantErr != nil || !Finite(float32(want)) {
		if err == nil {
			t.Errorf("%q: got %v, want an error", s, got)
		}
		return
	}
	if err != nil || n != len(s) || math.Float32bits(got) != math.Float32bits(float32(want)) {
		t.Errorf("%q: got %v (%d bytes), %v; want %v", s, got, n, err, want)
	}
}

func TestParseFloat(t *testing.T) {
	for _, s := range []string{
		"0", "-0", "+1", "1.", ".5", "-.5e1", ".", "-", "", "e5", "1e", "1e+", "1e5x", "1e0005", "1e-0005", "1e99999", "--1", "1-", "0x10", "1_0",
		"16777217", "16777217.0000000001", "16777216.9999999999", // exactly between two float32, and next to it
		"8388608.5", "8388609.5", "0.000000059604646", "1.00000005960464477539", "1.00000005960464477540", "1.000000178813934326171875",
		"3.4028235e38", "3.4028236e38", "3.40282356779733661637e38", "-3.5e38", "1e39", "1.17549435e-38", "1e-40", "1e-45", "7e-46", "1e-60",
		"123456789012345678", "1234567890123456789", "9007199254740993", "0.30000000000000000000000000000000001", "nan", "inf", "Infinity",
	} {
		checkParse(t, s)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 30_000 {
		v := math.Float32frombits(random.Uint32())
		if !Finite(v) {
			continue
		}
		checkParse(t, strconv.FormatFloat(float64(v), 'g', -1, 32))
		checkParse(t, strconv.FormatFloat(float64(v)*random.Float64(), 'g', 1+random.IntN(20), 64))
		checkParse(t, strconv.FormatFloat(random.NormFloat64(), 'f', random.IntN(25), 64))
		// the middle between two float32, and numbers next to it
		middle := float64(v) + (float64(math.Nextafter32(v, math.MaxFloat32))-float64(v))/2
		checkParse(t, strconv.FormatFloat(middle, 'g', 1+random.IntN(25), 64))
	}
}

func FuzzParseFloat(f *testing.F) {
	for _, s := range []string{"1.5", "-2e-3", "16777217", "1e400", "."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, c := range []byte(s) {
			if c == ' ' || c == '\t' {
				return
			}
		}
		checkParse(t, s)
	})
}
