package device

// NewByMessages makes one device of several that cannot use each other's memory.
var NewByMessages = newByMessages

// SyncOf returns how several GPUs combine their tables.
var SyncOf = syncOf
