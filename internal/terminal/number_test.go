package terminal

import "testing"

func TestFormats(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{Number(0), "0"}, {Number(999), "999"}, {Number(1000), "1,000"}, {Number(-1234567), "−1,234,567"}, {Number(int64(123456)), "123,456"},
		{Bytes(0), "0 B"}, {Bytes(999), "999 B"}, {Bytes(1000), "1 kB"}, {Bytes(123456), "123 kB"}, {Bytes(12345678), "12.3 MB"}, {Bytes(1210000000), "1.21 GB"}, {Bytes(999999), "1.00 MB"},
		{Rate(950.4), "950"}, {Rate(12345678), "12.3M"},
		{Duration(0.0000123), "12 µs"}, {Duration(0.0123), "12.3 ms"}, {Duration(0.44), "0.4 s"}, {Duration(23.4), "23 s"}, {Duration(250), "4 min 10 s"}, {Duration(11100), "3 h 5 min"}, {Duration(864000), "10.0 days"},
		{Quantity("1", "epoch"), "1 epoch"}, {Quantity("0.5", "epoch"), "0.5 epochs"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

func TestMinus(t *testing.T) {
	for text, want := range map[string]string{
		"-1.5k": "−1.5k", "wordnet-nouns: -3 (-.5 to 2)": "wordnet-nouns: −3 (−.5 to 2)", "5e-05": "5e-05", "a-1": "a-1", "": "",
	} {
		if got := Minus(text); got != want {
			t.Errorf("Minus(%q) = %q, want %q", text, got, want)
		}
	}
}
