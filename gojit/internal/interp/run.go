package interp

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// run executes c on its registers and the argument area behind them, and writes the results to
// out.
func (s *stack) run(c *Code, regs, area, out []value.Value) (err error) {
	code := c.instructions
	pc := 0
	for {
		in := &code[pc]
		pc++
		switch in.Op {
		case opJump:
			pc = int(in.A)
		case opJumpIf:
			if regs[in.B].Bool() {
				pc = int(in.A)
			}
		case opJumpIfNot:
			if !regs[in.B].Bool() {
				pc = int(in.A)
			}
		case opLoopStart:
			regs[in.B].SetInt(0)
			if regs[in.C].Int() <= 0 {
				pc = int(in.A)
			}
		case opLoopNext:
			i := regs[in.B].Int() + 1
			regs[in.B].SetInt(i)
			if i < regs[in.C].Int() {
				pc = int(in.A)
				if s.budget--; s.budget <= 0 {
					err = s.poll()
				}
			}
		case opLoopIf:
			if regs[in.B].Bool() {
				pc = int(in.A)
				if s.budget--; s.budget <= 0 {
					err = s.poll()
				}
			}
		case opPoll:
			err = s.poll()
		case opLine:
			s.clock.tick(c.options.Lines, c.sites[in.A].at)
		case opReturnOne:
			out[0] = regs[in.A]
			return nil
		case opReturn:
			s.escapeAll(c.sites[in.A].read(regs, out))
			return nil
		case opRaise:
			site := c.sites[in.A]
			err = raised(s.escapeAll(site.read(regs, area)))

		case opJumpIfNotLtInt:
			if !(regs[in.B].Int() < regs[in.C].Int()) {
				pc = int(in.A)
			}
		case opJumpIfNotLeInt:
			if !(regs[in.B].Int() <= regs[in.C].Int()) {
				pc = int(in.A)
			}
		case opJumpIfNotGtInt:
			if !(regs[in.B].Int() > regs[in.C].Int()) {
				pc = int(in.A)
			}
		case opJumpIfNotGeInt:
			if !(regs[in.B].Int() >= regs[in.C].Int()) {
				pc = int(in.A)
			}
		case opJumpIfNotEqInt:
			if !(regs[in.B].Int() == regs[in.C].Int()) {
				pc = int(in.A)
			}
		case opJumpIfNotNeInt:
			if !(regs[in.B].Int() != regs[in.C].Int()) {
				pc = int(in.A)
			}
		case opLoopIfLtInt:
			if regs[in.B].Int() < regs[in.C].Int() {
				pc = int(in.A)
				if s.budget--; s.budget <= 0 {
					err = s.poll()
				}
			}
		case opLoopIfLeInt:
			if regs[in.B].Int() <= regs[in.C].Int() {
				pc = int(in.A)
				if s.budget--; s.budget <= 0 {
					err = s.poll()
				}
			}
		case opLoopIfGtInt:
			if regs[in.B].Int() > regs[in.C].Int() {
				pc = int(in.A)
				if s.budget--; s.budget <= 0 {
					err = s.poll()
				}
			}
		case opLoopIfGeInt:
			if regs[in.B].Int() >= regs[in.C].Int() {
				pc = int(in.A)
				if s.budget--; s.budget <= 0 {
					err = s.poll()
				}
			}
		case opLoopIfEqInt:
			if regs[in.B].Int() == regs[in.C].Int() {
				pc = int(in.A)
				if s.budget--; s.budget <= 0 {
					err = s.poll()
				}
			}
		case opLoopIfNeInt:
			if regs[in.B].Int() != regs[in.C].Int() {
				pc = int(in.A)
				if s.budget--; s.budget <= 0 {
					err = s.poll()
				}
			}

		case opCopy:
			s.share(regs[in.B])
			regs[in.A] = regs[in.B]
		case opCopyBits:
			regs[in.A].SetInt(regs[in.B].Int())
		case opMove:
			regs[in.A] = regs[in.B]
			regs[in.B] = value.None
		case opDrop:
			dropValue(regs[in.A])
			regs[in.A] = value.None
		case opUninitialized:
			regs[in.A] = value.Uninitialized

		case opNative:
			if place, err := s.native(c.sites[in.A], regs, c.ranges[pc-1]); err != nil {
				return at(err, c.name, place)
			}
		case opCall:
			site := c.sites[in.A]
			args, results := site.read(regs, area), regs[site.output:int(site.output)+site.numOutputs]
			err = site.run(args, results)
			if site.owned != nil && err == nil {
				site.owned.settle(s, site.inputs, args, results)
			}
			clear(args)
			if s.budget -= operatorCost; s.budget <= 0 && err == nil {
				err = s.poll()
			}
		case opCallIn:
			site := c.sites[in.A]
			args, results := site.read(regs, area), regs[site.output:int(site.output)+site.numOutputs]
			if s.direct && site.direct != nil {
				err = site.direct(args, results)
			} else {
				err = site.runIn(s.mode, args, results)
				if site.direct == nil {
					s.direct = s.mode.Direct()
				}
			}
			if site.owned != nil && err == nil {
				site.owned.settle(s, site.inputs, args, results)
			}
			clear(args)
			if s.budget -= operatorCost; s.budget <= 0 && err == nil {
				err = s.poll()
			}
		case opGroup:
			if c.sites[in.B].attempt(s, regs, area) {
				pc = int(in.A)
				if s.budget -= operatorCost; s.budget <= 0 {
					err = s.poll()
				}
			}
		case opCallFunction:
			err = s.callFunction(c.sites[in.A], regs, area)
		case opCallMethod:
			err = s.callMethod(c.sites[in.A], regs, area)
		case opSort:
			err = s.sort(c.sites[in.A], regs, area)
		case opWarn:
			err = s.warn(c.sites[in.A], regs, area)
		case opEnter:
			err = s.enter(c.sites[in.C], &regs[in.A], regs[in.B])
		case opExit:
			err = s.closeWith(c.sites[in.B], regs[in.A])
		case opFork:
			s.fork(c.sites[in.A], regs, area)
		case opCheckWrites:
			err = c.options.Forks.checkWrites(s.ctx, c.sites[in.A].read(regs, area))

		case opTuple:
			site := c.sites[in.A]
			items := make([]value.Value, len(site.inputs))
			regs[site.output] = value.OfTuple(&value.Tuple{Type: site.tuple, Items: s.escapeInto(site, site.read(regs, items))})
		case opTupleUnpack:
			site := c.sites[in.A]
			results := regs[site.output : int(site.output)+site.numOutputs]
			if err = unpackTuple(site.read(regs, area), results); err == nil && !site.gives {
				keepTuples(results)
			}
		case opTupleIndex:
			regs[in.A], err = itemOfTuple(regs[in.B], regs[in.C].Int())
		case opList:
			site := c.sites[in.A]
			items := make([]value.Value, len(site.inputs))
			regs[site.output] = value.OfList(&value.List{Elem: site.list, Items: s.escapeInto(site, site.read(regs, items))})
		case opListUnpack:
			site := c.sites[in.A]
			err = unpackList(site.read(regs, area), regs[site.output:int(site.output)+site.numOutputs])
		case opDict:
			site := c.sites[in.A]
			regs[site.output] = dictOf(site, s.escapeAll(site.read(regs, area)))
		case opGetAttr:
			regs[in.A], err = attribute(regs[in.B], c.sites[in.C])
		case opSetAttr:
			s.escapeOne(regs[in.B])
			err = setAttribute(regs[in.A], c.sites[in.C], regs[in.B])
		case opCreateObject:
			regs[in.A] = value.OfObject(value.NewObject(c.sites[in.B].class))
		case opIsInstance:
			regs[in.A] = value.Bool(isInstance(regs[in.B], c.sites[in.C]))
		case opCast:
			s.escapeOne(regs[in.B])
			regs[in.A], err = cast(regs[in.B], regs[in.A], c.sites[in.C])
		case opUnwrap:
			s.escapeOne(regs[in.B])
			regs[in.A], err = unwrap(regs[in.B], regs[in.A], c.sites[in.C])

		case opAddInt:
			regs[in.A].SetInt(regs[in.B].Int() + regs[in.C].Int())
		case opSubInt:
			regs[in.A].SetInt(regs[in.B].Int() - regs[in.C].Int())
		case opMulInt:
			regs[in.A].SetInt(regs[in.B].Int() * regs[in.C].Int())
		case opFloorDivInt:
			if regs[in.C].Int() == 0 {
				err = errDivision
			} else {
				regs[in.A].SetInt(floorDiv(regs[in.B].Int(), regs[in.C].Int()))
			}
		case opRemainderInt:
			if regs[in.C].Int() == 0 {
				err = errDivision
			} else {
				regs[in.A].SetInt(remainder(regs[in.B].Int(), regs[in.C].Int()))
			}
		case opNegInt:
			regs[in.A].SetInt(-regs[in.B].Int())
		case opAndInt:
			regs[in.A].SetInt(regs[in.B].Int() & regs[in.C].Int())
		case opOrInt:
			regs[in.A].SetInt(regs[in.B].Int() | regs[in.C].Int())
		case opXorInt:
			regs[in.A].SetInt(regs[in.B].Int() ^ regs[in.C].Int())
		case opLtInt:
			regs[in.A].SetBool(regs[in.B].Int() < regs[in.C].Int())
		case opLeInt:
			regs[in.A].SetBool(regs[in.B].Int() <= regs[in.C].Int())
		case opGtInt:
			regs[in.A].SetBool(regs[in.B].Int() > regs[in.C].Int())
		case opGeInt:
			regs[in.A].SetBool(regs[in.B].Int() >= regs[in.C].Int())
		case opEqInt:
			regs[in.A].SetBool(regs[in.B].Int() == regs[in.C].Int())
		case opNeInt:
			regs[in.A].SetBool(regs[in.B].Int() != regs[in.C].Int())

		case opAddFloat:
			regs[in.A].SetFloat(regs[in.B].Float() + regs[in.C].Float())
		case opSubFloat:
			regs[in.A].SetFloat(regs[in.B].Float() - regs[in.C].Float())
		case opMulFloat:
			regs[in.A].SetFloat(regs[in.B].Float() * regs[in.C].Float())
		case opDivFloat:
			regs[in.A].SetFloat(regs[in.B].Float() / regs[in.C].Float())
		case opNegFloat:
			regs[in.A].SetFloat(-regs[in.B].Float())
		case opLtFloat:
			regs[in.A].SetBool(regs[in.B].Float() < regs[in.C].Float())
		case opLeFloat:
			regs[in.A].SetBool(regs[in.B].Float() <= regs[in.C].Float())
		case opGtFloat:
			regs[in.A].SetBool(regs[in.B].Float() > regs[in.C].Float())
		case opGeFloat:
			regs[in.A].SetBool(regs[in.B].Float() >= regs[in.C].Float())
		case opEqFloat:
			regs[in.A].SetBool(regs[in.B].Float() == regs[in.C].Float())
		case opNeFloat:
			regs[in.A].SetBool(regs[in.B].Float() != regs[in.C].Float())

		case opAddIntFloat:
			regs[in.A].SetFloat(float64(regs[in.B].Int()) + regs[in.C].Float())
		case opSubIntFloat:
			regs[in.A].SetFloat(float64(regs[in.B].Int()) - regs[in.C].Float())
		case opMulIntFloat:
			regs[in.A].SetFloat(float64(regs[in.B].Int()) * regs[in.C].Float())
		case opAddFloatInt:
			regs[in.A].SetFloat(regs[in.B].Float() + float64(regs[in.C].Int()))
		case opSubFloatInt:
			regs[in.A].SetFloat(regs[in.B].Float() - float64(regs[in.C].Int()))
		case opMulFloatInt:
			regs[in.A].SetFloat(regs[in.B].Float() * float64(regs[in.C].Int()))
		case opLtIntFloat:
			regs[in.A].SetBool(float64(regs[in.B].Int()) < regs[in.C].Float())
		case opLeIntFloat:
			regs[in.A].SetBool(float64(regs[in.B].Int()) <= regs[in.C].Float())
		case opGtIntFloat:
			regs[in.A].SetBool(float64(regs[in.B].Int()) > regs[in.C].Float())
		case opGeIntFloat:
			regs[in.A].SetBool(float64(regs[in.B].Int()) >= regs[in.C].Float())
		case opLtFloatInt:
			regs[in.A].SetBool(regs[in.B].Float() < float64(regs[in.C].Int()))
		case opLeFloatInt:
			regs[in.A].SetBool(regs[in.B].Float() <= float64(regs[in.C].Int()))
		case opGtFloatInt:
			regs[in.A].SetBool(regs[in.B].Float() > float64(regs[in.C].Int()))
		case opGeFloatInt:
			regs[in.A].SetBool(regs[in.B].Float() >= float64(regs[in.C].Int()))
		case opDivInt:
			regs[in.A].SetFloat(float64(regs[in.B].Int()) / float64(regs[in.C].Int()))

		case opNot:
			regs[in.A].SetBool(!regs[in.B].Bool())
		case opAndBool:
			regs[in.A].SetBool(regs[in.B].Bool() && regs[in.C].Bool())
		case opOrBool:
			regs[in.A].SetBool(regs[in.B].Bool() || regs[in.C].Bool())
		case opXorBool, opNeBool:
			regs[in.A].SetBool(regs[in.B].Bool() != regs[in.C].Bool())
		case opEqBool:
			regs[in.A].SetBool(regs[in.B].Bool() == regs[in.C].Bool())
		case opIntToFloat:
			regs[in.A].SetFloat(float64(regs[in.B].Int()))
		case opFloatToInt:
			regs[in.A].SetInt(truncate(regs[in.B].Float()))
		case opBoolToInt:
			regs[in.A].SetInt(int64(regs[in.B].Bits()))
		case opIntToBool:
			regs[in.A].SetBool(regs[in.B].Int() != 0)
		case opFloatToBool:
			regs[in.A].SetBool(regs[in.B].Float() != 0)
		}
		if err != nil {
			return c.failed(err, pc-1)
		}
	}
}

// read moves and copies the inputs of a site to the beginning of area and returns them.
func (s *site) read(regs, area []value.Value) []value.Value {
	args := area[:len(s.inputs)]
	for i, in := range s.inputs {
		args[i] = regs[in.register]
		if in.move {
			regs[in.register] = value.None
		}
	}
	return args
}

var errDivision = source.Errorf(source.RuntimeError, source.Range{}, "division by 0")

// floorDiv divides and rounds down.
func floorDiv(a, b int64) int64 {
	if b == -1 {
		return -a // the quotient of the smallest integer does not fit
	}
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// remainder has the sign of b.
func remainder(a, b int64) int64 {
	if b == -1 {
		return 0
	}
	r := a % b
	if r != 0 && (r < 0) != (b < 0) {
		r += b
	}
	return r
}

// truncate converts to an integer towards zero; what does not fit gives the smallest integer.
func truncate(f float64) int64 {
	if f >= math.MinInt64 && f < math.MaxInt64 {
		return int64(f)
	}
	return math.MinInt64
}
