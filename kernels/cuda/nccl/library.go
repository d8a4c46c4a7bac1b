package nccl

import "fmt"

// A Library is the NCCL library in use.
type Library struct {
	File    string `json:"file"` // as the system's loader found it
	Version string `json:"version"`
}

// IDBytes is the length of an identifier of ranks.
const IDBytes = 128

// versionOf returns the text of a version: 22809 is 2.28.9, 2804 (before 2.9) 2.8.4.
func versionOf(v int) string {
	if v < 10000 {
		return fmt.Sprintf("%d.%d.%d", v/1000, v%1000/100, v%100)
	}
	return fmt.Sprintf("%d.%d.%d", v/10000, v%10000/100, v%100)
}
