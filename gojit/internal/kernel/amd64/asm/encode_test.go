package asm

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// listing collects instructions as we encode them beside their text for the GNU assembler.
type listing struct {
	text []string
	code [][]byte
}

func (l *listing) add(text string, isa ISA, emit func(a *Assembler)) {
	a := &Assembler{ISA: isa}
	emit(a)
	l.text = append(l.text, text)
	l.code = append(l.code, a.Code)
}

var general64 = [...]string{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"}
var general32 = [...]string{"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "r8d", "r9d", "r10d", "r11d", "r12d", "r13d", "r14d", "r15d"}

func vectorName(r Reg, w int) string {
	switch {
	case w <= 16:
		return fmt.Sprintf("xmm%d", r)
	case w == 32:
		return fmt.Sprintf("ymm%d", r)
	}
	return fmt.Sprintf("zmm%d", r)
}

func memText(m Mem) string {
	s := "[" + general64[m.Base]
	if m.Scale != 0 {
		s += fmt.Sprintf("+%s*%d", general64[m.Index], m.Scale)
	}
	if m.Disp != 0 {
		s += fmt.Sprintf("%+d", m.Disp)
	}
	return s + "]"
}

var sizeNames = map[int32]string{1: "BYTE", 2: "WORD", 4: "DWORD", 8: "QWORD", 16: "XMMWORD", 32: "YMMWORD", 64: "ZMMWORD"}

// text writes a vector instruction for the assembler.
func text(o *opInfo, isa ISA, w Width, d, v Reg, s Operand, k Reg, zero bool) string {
	name, bytes := o.name, w.Bytes()
	isEvex := isa == AVX512 && o.sets&evex != 0
	switch {
	case isEvex:
		if o.evexName != "" {
			name = o.evexName
		}
		name = "{evex} v" + name
	case isa >= AVX2:
		name = "{vex} v" + name
	}
	shrunk := bytes // a register in place of a smaller memory operand
	switch o.Mem {
	case half32, halfMem:
		shrunk /= 2
	case quarterMem:
		shrunk /= 4
	case mem16:
		shrunk = 16
	}
	if o.flags&(fromScalar|scalar) != 0 {
		shrunk = 16
	}
	var last string
	switch {
	case s.Kind == isSplat:
		e := o.memBytes(w, true)
		last = fmt.Sprintf("%s PTR %s{1to%d}", sizeNames[e], memText(s.mem), int32(o.memBytes(w, false))/e)
	case s.Kind == isMem:
		last = sizeNames[o.memBytes(w, false)] + " PTR " + memText(s.mem)
	case o.flags&fromMask != 0:
		last = fmt.Sprintf("k%d", s.Reg)
	default:
		last = vectorName(s.Reg, shrunk)
	}
	dst := vectorName(d, bytes)
	switch {
	case o.flags&narrow != 0:
		dst = vectorName(d, bytes/2)
	case o.flags&toMask != 0 && isEvex:
		dst = fmt.Sprintf("k%d", d)
	case o.flags&scalar != 0:
		dst = vectorName(d, 16)
	}
	mask := ""
	if k != 0 {
		mask = fmt.Sprintf("{k%d}", k)
		if zero {
			mask += "{z}"
		}
	}
	mid := vectorName(v, bytes)
	two := isa == Baseline
	switch o.Form {
	case rvm:
		if two {
			return fmt.Sprintf("%s %s, %s", name, dst, last)
		}
		return fmt.Sprintf("%s %s%s, %s, %s", name, dst, mask, mid, last)
	case rm:
		if op := o.code; o.opmap == m0F && (op == 0x10 || op == 0x28) {
			name = "{load} " + name // the assembler prefers the shorter of two encodings
		}
		return fmt.Sprintf("%s %s%s, %s", name, dst, mask, last)
	case mr:
		return fmt.Sprintf("%s %s%s, %s", name, last, mask, dst)
	case rvmi:
		if two {
			return fmt.Sprintf("%s %s, %s, 1", name, dst, last)
		}
		return fmt.Sprintf("%s %s%s, %s, %s, 1", name, dst, mask, mid, last)
	case rmi:
		return fmt.Sprintf("%s %s%s, %s, 1", name, dst, mask, last)
	case mri:
		return fmt.Sprintf("%s %s%s, %s, 1", name, last, mask, dst)
	case Vmi:
		if two {
			return fmt.Sprintf("%s %s, 1", name, dst)
		}
		return fmt.Sprintf("%s %s%s, %s, 1", name, dst, mask, last)
	case rvmr:
		return fmt.Sprintf("%s %s, %s, %s, %s", name, dst, mid, last, vectorName(1, bytes))
	}
	return fmt.Sprintf("%s %s, %s, %s", name, last, mid, dst)
}

// widths returns the vector lengths an instruction has.
func widths(o *opInfo, isa ISA) []Width {
	isEvex := isa == AVX512 && o.sets&evex != 0
	switch {
	case o.flags&scalar != 0 || isa == Baseline:
		return []Width{W128}
	case o.flags&only256 != 0:
		return []Width{W256}
	case !isEvex && o.flags&wide != 0:
		return []Width{W256}
	case !isEvex:
		return []Width{W128, W256}
	case o.flags&wide != 0:
		return []Width{W256, W512}
	}
	return []Width{W128, W256, W512}
}

func vectorListing(l *listing, isa ISA) {
	set := map[ISA]opSet{Baseline: legacy, AVX2: vex, AVX512: evex}[isa]
	mems := []Mem{At(RAX, 0), At(R13, 0), At(RBP, 8), At(RSP, 64), At(R12, -64), At(RDI, 4), At(R9, 1<<20), Indexed(RSI, RCX, 4, 0), Indexed(R8, R15, 8, 128), Indexed(R13, RAX, 1, 0), At(RDX, 512)}
	top := Reg(isa.Registers() - 1)
	for op := range Ops {
		o := &Ops[op]
		if o.sets&set == 0 {
			continue
		}
		for _, w := range widths(o, isa) {
			emit := func(d, v Reg, s Operand, k Reg, zero bool) {
				if isa == Baseline && o.Form != rm && o.Form != mr && o.Form != rmi {
					v = d
				}
				if o.Form == Vmi && isa == Baseline {
					s = R(d)
				}
				l.add(text(o, isa, w, d, v, s, k, zero), isa, func(a *Assembler) { a.vector(Op(op), w, d, v, s, k, zero, 1) })
			}
			high := top
			if o.flags&(toMask|fromMask) != 0 && isa == AVX512 {
				high = 7
			}
			if o.flags&memOnly == 0 {
				src := top
				if o.flags&fromMask != 0 {
					src = 5
				}
				emit(1, 2, R(3), 0, false)
				emit(high, 9, R(3), 0, false)
				emit(2, top, R(src), 0, false)
				emit(3, 10, R(5), 0, false)
			}
			if o.Form == Vmi && isa != AVX512 || o.flags&fromMask != 0 {
				continue
			}
			for i, m := range mems {
				emit(Reg(i)%8, top-Reg(i), M(m), 0, false)
				if isa == AVX512 && o.Mem <= half32 && o.Mem != FullMem {
					emit(Reg(i)%8, 11, Splat(m), 0, false)
				}
			}
			emit(high, 6, M(mems[5]), 0, false)
			if isa == AVX512 && o.flags&(memOnly) == 0 || o.flags&scalar != 0 && isa == AVX512 {
				zero := o.flags&toMask == 0 && o.Form != mr && o.Form != mri
				emit(4, 7, M(mems[4]), 3, zero)
				emit(5, 8, M(mems[2]), 1, false)
			}
		}
	}
}

func generalListing(l *listing) {
	regs := []Reg{RAX, RBX, RSP, RBP, RDI, R8, R12, R13, R15}
	mems := []Mem{At(RAX, 0), At(R13, 0), At(RBP, 8), At(RSP, 300), At(R12, -8), Indexed(RSI, R9, 4, 0), Indexed(R8, RCX, 8, 129)}
	add := func(text string, emit func(a *Assembler)) { l.add(text, AVX512, emit) }
	for _, r := range regs {
		for _, m := range mems {
			add(fmt.Sprintf("mov %s, %s", general64[r], memText(m)), func(a *Assembler) { a.Load(r, m) })
			add(fmt.Sprintf("mov %s, %s", memText(m), general64[r]), func(a *Assembler) { a.Store(m, r) })
			add(fmt.Sprintf("lea %s, %s", general64[r], memText(m)), func(a *Assembler) { a.Lea(r, m) })
			add(fmt.Sprintf("add %s, %s", general64[r], memText(m)), func(a *Assembler) { a.AddMem(r, m) })
			add(fmt.Sprintf("sub %s, %s", general64[r], memText(m)), func(a *Assembler) { a.SubMem(r, m) })
			add(fmt.Sprintf("cmp %s, %s", general64[r], memText(m)), func(a *Assembler) { a.CmpMem(r, m) })
			add(fmt.Sprintf("movzx %s, BYTE PTR %s", general32[r], memText(m)), func(a *Assembler) { a.LoadByte(r, m) })
			add(fmt.Sprintf("movzx %s, WORD PTR %s", general32[r], memText(m)), func(a *Assembler) { a.LoadShort(r, m) })
		}
		for _, s := range regs {
			add(fmt.Sprintf("mov %s, %s", general64[r], general64[s]), func(a *Assembler) { a.Move(r, s) })
			add(fmt.Sprintf("add %s, %s", general64[r], general64[s]), func(a *Assembler) { a.Add(r, s) })
			add(fmt.Sprintf("sub %s, %s", general64[r], general64[s]), func(a *Assembler) { a.Sub(r, s) })
			add(fmt.Sprintf("and %s, %s", general64[r], general64[s]), func(a *Assembler) { a.And(r, s) })
			add(fmt.Sprintf("xor %s, %s", general64[r], general64[s]), func(a *Assembler) { a.Xor(r, s) })
			add(fmt.Sprintf("cmp %s, %s", general64[r], general64[s]), func(a *Assembler) { a.Cmp(r, s) })
			add(fmt.Sprintf("imul %s, %s", general64[r], general64[s]), func(a *Assembler) { a.Mul(r, s) })
			add(fmt.Sprintf("or %s, %s", general64[r], general64[s]), func(a *Assembler) { a.Or(r, s) })
			add(fmt.Sprintf("test %s, %s", general64[r], general64[s]), func(a *Assembler) { a.Test(r, s) })
			add(fmt.Sprintf("imul %s, %s, 100", general64[r], general64[s]), func(a *Assembler) { a.MulImm(r, s, 100) })
			add(fmt.Sprintf("imul %s, %s, -1000", general64[r], general64[s]), func(a *Assembler) { a.MulImm(r, s, -1000) })
			add(fmt.Sprintf("cmovle %s, %s", general64[r], general64[s]), func(a *Assembler) { a.MoveIf(LessEqual, r, s) })
			add(fmt.Sprintf("bzhi %s, %s, %s", general64[r], general64[s], general64[RCX]), func(a *Assembler) { a.LowBits(r, s, RCX) })
		}
		for _, v := range []int32{1, -1, 127, 128, -129, 1 << 20} {
			if r == RAX && (v > 127 || v < -128) {
				continue // the assembler takes a shorter form that we do not use
			}
			add(fmt.Sprintf("add %s, %d", general64[r], v), func(a *Assembler) { a.AddImm(r, v) })
			add(fmt.Sprintf("sub %s, %d", general64[r], v), func(a *Assembler) { a.SubImm(r, v) })
			add(fmt.Sprintf("and %s, %d", general64[r], v), func(a *Assembler) { a.AndImm(r, v) })
			add(fmt.Sprintf("xor %s, %d", general64[r], v), func(a *Assembler) { a.XorImm(r, v) })
			add(fmt.Sprintf("cmp %s, %d", general64[r], v), func(a *Assembler) { a.CmpImm(r, v) })
		}
		add(fmt.Sprintf("mov %s, 77", general32[r]), func(a *Assembler) { a.MoveImm(r, 77) })
		add(fmt.Sprintf("mov %s, -77", general64[r]), func(a *Assembler) { a.MoveImm(r, -77) })
		add(fmt.Sprintf("movabs %s, 0x123456789abcdef", general64[r]), func(a *Assembler) { a.MoveImm(r, 0x123456789abcdef) })
		add(fmt.Sprintf("shl %s, 3", general64[r]), func(a *Assembler) { a.ShiftLeft(r, 3) })
		add(fmt.Sprintf("shr %s, 3", general64[r]), func(a *Assembler) { a.ShiftRight(r, 3) })
		add(fmt.Sprintf("sar %s, 5", general64[r]), func(a *Assembler) { a.ShiftArithmetic(r, 5) })
		add(fmt.Sprintf("shl %s, cl", general64[r]), func(a *Assembler) { a.ShiftLeftBy(r) })
		add(fmt.Sprintf("sar %s, cl", general64[r]), func(a *Assembler) { a.ShiftArithmeticBy(r) })
		add(fmt.Sprintf("neg %s", general64[r]), func(a *Assembler) { a.Negate(r) })
		add(fmt.Sprintf("not %s", general64[r]), func(a *Assembler) { a.Invert(r) })
		add(fmt.Sprintf("idiv %s", general64[r]), func(a *Assembler) { a.Divide(r) })
		add(fmt.Sprintf("jmp %s", general64[r]), func(a *Assembler) { a.JumpTo(r) })
		low := map[Reg]string{RAX: "al", RBX: "bl", RSP: "spl", RBP: "bpl", RDI: "dil"}[r]
		if low == "" {
			low = general64[r] + "b"
		}
		prefix := ""
		if r < RSP {
			prefix = "rex "
		}
		add(fmt.Sprintf("%ssetnp %s\n%smovzx %s, %s", prefix, low, prefix, general32[r], low), func(a *Assembler) { a.SetIf(NotParity, r) })
		if r != RAX {
			add(fmt.Sprintf("or %s, 1000", general64[r]), func(a *Assembler) { a.OrImm(r, 1000) })
		}
		add(fmt.Sprintf("vxorps xmm9, xmm9, xmm9\nvcvtsi2sd xmm9, xmm9, %s", general64[r]), func(a *Assembler) { narrow := Assembler{ISA: AVX2}; narrow.IntToDouble(9, r); a.Code = narrow.Code })
		add(fmt.Sprintf("vcvttsd2si %s, xmm10", general64[r]), func(a *Assembler) { a.DoubleToInt(r, 10) })
		l.add(fmt.Sprintf("xorps xmm9, xmm9\ncvtsi2sd xmm9, %s", general64[r]), Baseline, func(a *Assembler) { a.IntToDouble(9, r) })
		l.add(fmt.Sprintf("cvttsd2si %s, xmm3", general64[r]), Baseline, func(a *Assembler) { a.DoubleToInt(r, 3) })
		add(fmt.Sprintf("kmovd k3, %s", general32[r]), func(a *Assembler) { a.KMove(3, r) })
		for i, v := range []Reg{3, 9} {
			for wide, suffix := range []string{"ps", "pd"} {
				add(fmt.Sprintf("vmovmsk%s %s, xmm%d", suffix, general32[r], v), func(a *Assembler) { a.MoveMask(r, W128, v, wide == 1) })
				add(fmt.Sprintf("vmovmsk%s %s, ymm%d", suffix, general32[r], v), func(a *Assembler) { a.MoveMask(r, W256, v, wide == 1) })
				l.add(fmt.Sprintf("movmsk%s %s, xmm%d", suffix, general32[r], v), Baseline, func(a *Assembler) { a.MoveMask(r, W128, v, wide == 1) })
			}
			add(fmt.Sprintf("kortest%s k%d, k%d", []string{"b", "w"}[i], v&7, v&7), func(a *Assembler) { a.KTest(v&7, 8<<i) })
		}
		add(fmt.Sprintf("vmovd xmm9, %s", general32[r]), func(a *Assembler) { a.MoveToVector(9, r, 4) })
		add(fmt.Sprintf("vmovq %s, xmm3", general64[r]), func(a *Assembler) { a.MoveFromVector(r, 3, 8) })
		l.add(fmt.Sprintf("movq xmm9, %s", general64[r]), Baseline, func(a *Assembler) { a.MoveToVector(9, r, 8) })
		l.add(fmt.Sprintf("movd %s, xmm3", general32[r]), Baseline, func(a *Assembler) { a.MoveFromVector(r, 3, 4) })
	}
	for _, m := range mems {
		add("kmovw k2, "+memText(m), func(a *Assembler) { a.KLoad(2, m) })
		add("sfence", func(a *Assembler) { a.StoreFence() })
		add("prefetcht0 "+memText(m), func(a *Assembler) { a.Prefetch(PrefetchNearest, m) })
		add("prefetcht1 "+memText(m), func(a *Assembler) { a.Prefetch(PrefetchSecond, m) })
		add("prefetchw "+memText(m), func(a *Assembler) { a.Prefetch(PrefetchWrite, m) })
		for _, r := range []Reg{RAX, RBX, R9} {
			low8 := map[Reg]string{RAX: "al", RBX: "bl", R9: "r9b"}[r]
			low16 := map[Reg]string{RAX: "ax", RBX: "bx", R9: "r9w"}[r]
			add(fmt.Sprintf("mov %s, %s", memText(m), low8), func(a *Assembler) { a.StoreByte(m, r) })
			add(fmt.Sprintf("mov %s, %s", memText(m), low16), func(a *Assembler) { a.StoreShort(m, r) })
		}
	}
	add("cqo", func(a *Assembler) { a.ExtendSign() })
	add("vzeroupper", func(a *Assembler) { a.ZeroUpper() })
	add("ret", func(a *Assembler) { a.Ret() })
}

// assemble returns the bytes that the GNU assembler makes of a text.
func assemble(t *testing.T, lines []string) []byte {
	t.Helper()
	if _, err := exec.LookPath("as"); err != nil {
		t.Skip("no GNU assembler: encodings are not compared")
	}
	dir := t.TempDir()
	source, object, binary := filepath.Join(dir, "a.s"), filepath.Join(dir, "a.o"), filepath.Join(dir, "a.bin")
	body := ".intel_syntax noprefix\n" + strings.Join(lines, "\n") + "\n"
	if err := os.WriteFile(source, []byte(body), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("as", "--64", "-o", object, source).CombinedOutput(); err != nil {
		t.Fatalf("as: %v\n%.2000s", err, out)
	}
	if out, err := exec.Command("objcopy", "-O", "binary", "-j", ".text", object, binary).CombinedOutput(); err != nil {
		t.Fatalf("objcopy: %v\n%s", err, out)
	}
	code, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// Every form of every instruction has the bytes that the GNU assembler gives it.
func TestEncodings(t *testing.T) {
	var l listing
	generalListing(&l)
	for _, isa := range []ISA{Baseline, AVX2, AVX512} {
		vectorListing(&l, isa)
	}
	want := assemble(t, l.text)
	wrong := 0
	for i, code := range l.code {
		if len(want) < len(code) || !bytes.Equal(code, want[:len(code)]) {
			t.Errorf("%s: % x, want % x", l.text[i], code, want[:min(len(want), 12)])
			if wrong++; wrong > 20 {
				t.Fatal("too many")
			}
			one := assemble(t, l.text[i:i+1])
			want = want[len(one):]
			continue
		}
		want = want[len(code):]
	}
	t.Logf("%d instructions compared", len(l.code))
}

// Jumps reach labels before and behind them, near and far.
func TestJumps(t *testing.T) {
	a := &Assembler{ISA: AVX2}
	end := a.NewLabel()
	top := a.Here()
	a.JumpIf(Equal, end)
	a.Dec(RAX)
	a.JumpIf(NotEqual, top)
	a.Align(256)
	a.JumpIf(Less, top)
	a.Jump(top)
	a.Bind(end)
	a.Ret()
	lines := []string{"top:", "{disp32} je end", "sub rax, 1", "jne top"}
	for n := 256 - 12; n > 0; n -= min(n, 8) {
		lines = append(lines, fmt.Sprintf(".byte 0x%x", noOps[min(n, 8)][0]))
		for _, b := range []byte(noOps[min(n, 8)][1:]) {
			lines = append(lines, fmt.Sprintf(".byte 0x%x", b))
		}
	}
	lines = append(lines, "jl top", "jmp top", "end: ret")
	if want := assemble(t, lines); !bytes.Equal(a.Code, want) {
		t.Errorf("% x\nwant % x", a.Code, want)
	}
}
