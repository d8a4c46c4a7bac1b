package machine

import (
	"strings"

	"golang.org/x/sys/windows/registry"
)

// ask reads the processor's name. The load stays unknown.
func (h *Hardware) ask() {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, `HARDWARE\DESCRIPTION\System\CentralProcessor\0`, registry.QUERY_VALUE)
	if err != nil {
		return
	}
	defer func() { _ = key.Close() }() // it was only read
	if name, _, err := key.GetStringValue("ProcessorNameString"); err == nil {
		h.Processor = strings.TrimSpace(name)
	}
}
