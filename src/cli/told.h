// What --verbose says on standard error of what is read; nothing without it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "cli/options.h"
#include "report/report.h"

namespace whyoom {

class Told {
 public:
  // Borrows the options. The clock starts.
  explicit Told(const Options& options) : options_(options) {}

  // "read train.log: 1.20 MiB, 2 failures, 0.004 s": what came of one input since `begin`. Any number of threads may.
  void Read(const std::string& path, const Readings& readings, std::chrono::steady_clock::time_point begin) const;

  // "passed over FILE: why".
  void PassedOver(const std::string& path, const char* why) const;

  // The rule data in use; how much was read in which time, what was found and what was not told of.
  void Sum(const Report& report) const;

 private:
  void Say(const std::string& line) const;

  const Options& options_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace whyoom
