package checksum

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

func TestChecksumIsCRC32(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 5000)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	for _, n := range []int{0, 1, 63, 255, 256, 257, 511, 512, 513, 767, 768, 1024, 4095, 4096, 4999} {
		for from := range 2 {
			part := b[from : from+n]
			want := crc32.ChecksumIEEE(part)
			if got := Update(0, part); got != want {
				t.Errorf("%d bytes: %08x, want %08x", n, got, want)
			}
			head := n / 3
			if got := Update(Update(0, part[:head]), part[head:]); got != want {
				t.Errorf("%d bytes in two parts: %08x, want %08x", n, got, want)
			}
		}
	}
}

func BenchmarkChecksum(b *testing.B) {
	for _, n := range []int{256 << 10, 64 << 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			data := make([]byte, n)
			for i := range data {
				data[i] = byte(i)
			}
			b.SetBytes(int64(n))
			for b.Loop() {
				Update(0, data)
			}
		})
	}
}
