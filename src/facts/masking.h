// Masks secrets (text/secrets.h) in data from a log or a dump before it is kept for a report.
#pragma once

#include <optional>
#include <vector>

#include "facts/allocation.h"
#include "facts/evidence.h"
#include "facts/program_estimates.h"
#include "input/artifact.h"

namespace whyoom {

void MaskSecretsOf(Evidence* facts);
void MaskSecretsOf(std::vector<Allocation>* rows);
void MaskSecretsOf(std::optional<ProgramEstimates>* estimates);
void MaskSecretsOf(std::vector<Problem>* problems);

}  // namespace whyoom
