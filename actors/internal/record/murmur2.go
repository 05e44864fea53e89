package record

// PartitionOf is the partition of an actor among n, as Kafka's own clients
// compute it from a record's key, so that other languages can address actors.
func PartitionOf(actor string, n uint32) uint32 {
	if n == 0 {
		return 0
	}
	return (murmur2(actor) & 0x7fffffff) % n
}

// murmur2 is Kafka's variant of MurmurHash2.
func murmur2(s string) uint32 {
	const (
		seed = 0x9747b28c
		mix  = 0x5bd1e995
	)
	h := uint32(seed) ^ uint32(len(s))
	for ; len(s) >= 4; s = s[4:] {
		k := uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
		k *= mix
		k ^= k >> 24
		k *= mix
		h = h*mix ^ k
	}
	switch len(s) {
	case 3:
		h ^= uint32(s[2]) << 16
		fallthrough
	case 2:
		h ^= uint32(s[1]) << 8
		fallthrough
	case 1:
		h ^= uint32(s[0])
		h *= mix
	}
	h ^= h >> 13
	h *= mix
	return h ^ h>>15
}
