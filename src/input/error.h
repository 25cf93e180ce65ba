// The only error type: whyoom itself cannot run (bad usage, bad rule data). Damaged input is never an Error; it becomes
// a Problem in the report. Caught once, in cli/.
#pragma once

#include <stdexcept>
#include <string>

namespace whyoom {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace whyoom
