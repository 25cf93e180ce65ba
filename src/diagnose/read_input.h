// Reads one input of the command line, with all that is packed in it.
#pragma once

#include <functional>

#include "diagnose/readings.h"
#include "input/artifact.h"
#include "input/limits.h"
#include "read/engine.h"
#include "read/sightings.h"

namespace whyoom {

// To its end or a limit. Where `options` have a control, an input that may let one wait (a pipe, a terminal) ends soon
// after it says to stop, and what came before is still used.
Readings ReadInput(const Engine& engine, const Artifact& input, const Limits& limits, const ReadOptions& options = {});

// The same where each artifact in it is read by `read`, as ReadArtifact would.
using ArtifactRead = std::function<Readings(const Artifact&, ByteSource&, const ReadOptions&)>;
Readings ReadInput(const Artifact& input, const Limits& limits, const ReadOptions& options, const ArtifactRead& read);

}  // namespace whyoom
