// Package freeze makes the attributes of modules constants of their graphs, and holds the passes over modules and frozen
// graphs: copies of modules, folding of batch norm into convolutions, weights packed ahead.
package freeze
