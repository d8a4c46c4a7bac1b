package embedding

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// powersOfTen are exact in float64.
var powersOfTen = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// parseFloat reads the number at the start of b, up to a space, a tab or the
// end, and returns how long it is. The value is rounded correctly, as
// strconv.ParseFloat(s, 32) does; this is the fast path for the numbers that
// files of vectors hold.
func parseFloat(b []byte) (value float32, length int, err error) {
	var mantissa uint64
	var digits, fraction int // digits seen, and how many of them after the point
	i, point := 0, false
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		i++
	}
	for ; i < len(b); i++ {
		if c := b[i] - '0'; c <= 9 {
			mantissa = mantissa*10 + uint64(c)
			digits++
			if point {
				fraction++
			}
		} else if b[i] == '.' && !point {
			point = true
		} else {
			break
		}
	}
	exponent := -fraction
	plain := digits > 0 && digits <= 18
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') && plain {
		e, n := parseExponent(b[i+1:])
		plain = n > 0
		exponent += e
		i += 1 + n
	}
	if !plain || i < len(b) && b[i] != ' ' && b[i] != '\t' || mantissa >= 1<<53 || exponent < -22 || exponent > 22 {
		return parseAnyFloat(b)
	}
	// Mantissa and power are exact, so this one operation rounds correctly to
	// float64 (Clinger's fast path).
	v := float64(mantissa)
	if exponent < 0 {
		v /= powersOfTen[-exponent]
	} else {
		v *= powersOfTen[exponent]
	}
	// Rounding again to float32 is correct unless v lies exactly between two
	// of them, or where float32 has fewer bits, or none.
	const below, half = 1<<29 - 1, 1 << 28
	if math.Float64bits(v)&below == half || v != 0 && (v < 0x1p-126 || v > math.MaxFloat32) {
		return parseAnyFloat(b)
	}
	if negative {
		v = -v
	}
	return float32(v), i, nil
}

// parseExponent reads an exponent of at most three digits; n is 0 if there is
// none or it is longer.
func parseExponent(b []byte) (e, n int) {
	negative := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		negative = b[0] == '-'
		n++
	}
	start := n
	for ; n < len(b) && b[n]-'0' <= 9; n++ {
		if n-start == 3 {
			return 0, 0
		}
		e = e*10 + int(b[n]-'0')
	}
	if n == start {
		return 0, 0
	}
	if negative {
		e = -e
	}
	return e, n
}

// parseAnyFloat is the slow path of parseFloat, and the place of its errors.
func parseAnyFloat(b []byte) (value float32, length int, err error) {
	for length < len(b) && b[length] != ' ' && b[length] != '\t' {
		length++
	}
	v, err := strconv.ParseFloat(string(b[:length]), 32)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, length, fmt.Errorf("%s is out of float32's range", shorten(b[:length]))
	case err != nil:
		return 0, length, fmt.Errorf("%s is not a number", shorten(b[:length]))
	case !finite(float32(v)):
		return 0, length, fmt.Errorf("the value is %s", b[:length])
	}
	return float32(v), length, nil
}

// shorten quotes a part of a file for an error message.
func shorten(b []byte) string {
	const most = 40
	if len(b) > most {
		return fmt.Sprintf("%q…", b[:most])
	}
	return fmt.Sprintf("%q", b)
}

// onlyNumbers reports whether a line is one or more numbers separated by tabs,
// which no format but the projector's begins with.
func onlyNumbers(line []byte) bool {
	line = trimLineEnd(line)
	for {
		value, n, err := parseFloat(line)
		if err != nil || !finite(value) || n < len(line) && line[n] != '\t' {
			return false
		}
		if n == len(line) {
			return true
		}
		line = line[n+1:]
	}
}

// trimLineEnd takes the line break off, with the spaces that word2vec and
// fastText leave before it.
func trimLineEnd(line []byte) []byte {
	for len(line) > 0 {
		switch line[len(line)-1] {
		case '\n', '\r', ' ', '\t':
			line = line[:len(line)-1]
		default:
			return line
		}
	}
	return line
}
