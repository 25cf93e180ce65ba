// Reads many inputs, several at once. What comes out does not depend on how many, nor on who is done first.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "diagnose/read_input.h"
#include "input/artifact.h"

namespace whyoom {

class Batch {
 public:
  // Reads one input. Called by several threads at once; beside the one that calls, it may use `threads` for a large
  // one.
  using Reader = std::function<Readings(const Artifact& input, std::size_t threads)>;

  // Reads with `jobs` threads, at least one; with one, only in Add.
  Batch(std::size_t jobs, Reader reader);
  ~Batch();  // what is not read by then is dropped

  // Reads the input, now or soon; waits where more are waiting than are worth holding. Throws what reading another one
  // threw.
  void Add(Artifact input);

  // Waits for all. Throws what reading one threw. Call once, at the end.
  Readings Finish();

 private:
  struct Queue;
  void Work();

  const std::size_t jobs_;
  const Reader read_;
  Readings readings_;
  std::unique_ptr<Queue> queue_;  // null with one job
};

}  // namespace whyoom
