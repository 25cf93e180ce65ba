// Reads one input of the command line and everything packed in it.
#pragma once

#include <functional>

#include "diagnose/readings.h"
#include "input/artifact.h"
#include "input/limits.h"
#include "read/engine.h"
#include "read/sightings.h"

namespace whyoom {

// Reads to the end or a limit. If `options` have a control, an input that may block (a pipe, a terminal) ends soon
// after a stop request, and what came before is still used.
Readings ReadInput(const Engine& engine, const Artifact& input, const Limits& limits, const ReadOptions& options = {});

// The same, with `read` in place of ReadArtifact for each artifact.
using ArtifactRead = std::function<Readings(const Artifact&, ByteSource&, const ReadOptions&)>;
Readings ReadInput(const Artifact& input, const Limits& limits, const ReadOptions& options, const ArtifactRead& read);

}  // namespace whyoom
