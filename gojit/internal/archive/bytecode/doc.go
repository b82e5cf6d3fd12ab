// Package bytecode assembles the instructions that archives for mobile interpreters hold: functions of registers, with
// values dropped after their last use.
package bytecode
