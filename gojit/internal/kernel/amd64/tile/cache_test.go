package tile

import (
	"reflect"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
)

// TestIndexTellsTilesApart has what a tile does in each of its fields change the number of the table that its code is kept in: a field that
// is left out of it would give the code of another tile.
func TestIndexTellsTilesApart(t *testing.T) {
	base := Tile{ISA: asm.AVX2}
	seen := map[int]string{base.index(): "none"}
	note := func(what string, tile Tile) {
		i := tile.index()
		if other, is := seen[i]; is || i < 0 || i >= len(tileTables) {
			t.Errorf("%s has number %d, as %q has, of %d tables", what, i, other, len(tileTables))
		}
		seen[i] = what
	}
	fields := reflect.TypeFor[Tile]()
	for i := range fields.NumField() {
		f := fields.Field(i)
		tile := base
		switch f.Name {
		case "Rows", "Vectors", "Epilogue": // the first two number the slots of a table; tiles with an epilogue are kept elsewhere
			continue
		case "ISA":
			tile.ISA = asm.AVX512
		case "Bias":
			tile.Bias = ColumnBias
			note("ColumnBias", tile)
			tile.Bias = RowBias
		default:
			reflect.ValueOf(&tile).Elem().Field(i).SetBool(true)
		}
		note(f.Name, tile)
	}
}
