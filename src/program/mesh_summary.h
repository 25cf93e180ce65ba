// Summarizes how the mesh of a program splits its arrays: arguments, results, constraints, and what the devices gather
// and exchange.
#pragma once

#include <optional>

#include "facts/program_estimates.h"
#include "program/semantics.h"

namespace whyoom {

// Returns nullopt if the program is for one device, or its mesh has no names or another number of devices. Sources: the
// shardings in the module before optimization (Sharding and xla.sdy.FuncResultSharding custom calls), and
// replica_groups of collectives in the optimized one. A result without a sharding of its own is left out, since the
// compiler chooses it.
std::optional<MeshSummary> SummarizeMesh(const Program& program, const Semantics& semantics);

}  // namespace whyoom
