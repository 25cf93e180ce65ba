// Reads one input of the command line and everything packed in it.
#pragma once

#include "diagnose/report.h"
#include "input/artifact.h"
#include "input/limits.h"
#include "input/members.h"
#include "read/engine.h"
#include "read/failure_reader.h"

namespace whyoom {

// The streams of plain bytes of one input, and what was found in them so far.
class InputStreams {
 public:
  // If `options` have a control, which is borrowed, the input ends soon after a stop request, and what came before is
  // still used.
  InputStreams(const Artifact& input, const Limits& limits, const ReadOptions& options);
  InputStreams(const InputStreams&) = delete;
  InputStreams& operator=(const InputStreams&) = delete;

  // See Members::Next. Read the stream with options().
  ByteSource* Next(Artifact* artifact) { return members_.Next(artifact); }
  const ReadOptions& options() const { return options_; }

  // Adds the result of a stream.
  void Add(Report one) { report_.Join(std::move(one)); }

  // Call once, after Next returned null.
  Report Finish();

 private:
  const Stop stop_;
  Members members_;
  ReadOptions options_;
  Report report_;
};

// Reads a stream of plain bytes to its end.
Report ReadArtifact(const Engine& engine, const Artifact& artifact, ByteSource& source,
                    const ReadOptions& options = {});

// Reads an input and everything packed in it to the end or a limit.
Report ReadInput(const Engine& engine, const Artifact& input, const Limits& limits, const ReadOptions& options = {});

}  // namespace whyoom
