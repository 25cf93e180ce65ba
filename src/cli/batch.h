// Reads many inputs, several at once. What comes out does not depend on how many, nor on who is done first.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "cli/read_input.h"
#include "diagnose/diagnoser.h"
#include "input/artifact.h"
#include "input/read_control.h"

namespace whyoom {

class Batch {
 public:
  // Called after each input by the thread that read it, several at once, before its readings are joined to the others.
  using Observer = std::function<void(const Artifact&, const Readings&)>;

  // Borrows the engine and the control. Reads with `jobs` threads, at least one; with one, only in Add. `observer` may
  // be empty.
  Batch(const Engine& engine, const ReadSettings& settings, std::size_t jobs, ReadControl* control, Observer observer);
  ~Batch();  // what is not read by then is dropped

  // Reads the input, now or soon; waits where more are waiting than are worth holding. Throws what reading another one
  // threw.
  void Add(Artifact input);

  // Waits for all. Throws what reading one threw. Call once, at the end.
  Readings Finish();

 private:
  struct Queue;
  void Work();
  Readings Read(const Artifact& input, std::size_t threads);

  const Engine& engine_;
  const ReadSettings settings_;
  const std::size_t jobs_;
  ReadControl* const control_;
  const Observer observer_;
  Readings readings_;
  std::unique_ptr<Queue> queue_;  // null with one job
};

}  // namespace whyoom
