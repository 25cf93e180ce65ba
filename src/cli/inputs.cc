#include "cli/inputs.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "input/byte_source.h"
#include "input/error.h"
#include "input/problems.h"
#include "input/stoppable_input.h"
#include "text/utf8.h"

namespace whyoom {

Inputs::Inputs(const Options& options, const ReadControl& control)
    : options_(options), control_(control), walk_(options.paths) {
  if (options.files_from == "-" && std::find(options.paths.begin(), options.paths.end(), "-") != options.paths.end())
    throw Error("standard input cannot be both the list of --files-from and an input");
}

std::optional<Artifact> Inputs::Next() {
  while (true) {
    std::vector<Problem> problems;
    std::optional<Artifact> input = walk_.Next(&problems);
    if (!input && !ended_) ended_ = !OpenNextName(&problems);
    Keep(std::move(problems));  // of each name, since a list may be longer than memory
    if (input || ended_) return input;
  }
}

// Whether the list gave another name to walk.
bool Inputs::OpenNextName(std::vector<Problem>* problems) {
  if (options_.files_from.empty()) return false;
  if (!list_) {
    if (IsEndlessDevice(options_.files_from))
      throw Error("--files-from " + Printable(options_.files_from) + ": it is a device that has no end");
    bool may_wait = false;
    list_.emplace(options_.files_from, OpenStoppable(options_.files_from, control_, Limits(), &may_wait),
                  options_.files_form);
  }
  std::optional<std::string> name = control_.stopped() ? std::nullopt : list_->Next(problems);
  if (name) walk_ = Walk({*std::move(name)});
  return name.has_value();
}

void Inputs::Keep(std::vector<Problem> problems) {
  for (Problem& problem : problems) {
    if (!options_.shard.Owns(problem.path))
      continue;  // every shard walks the same tree; the owner of the path reports its problem
    problems_.push_back(std::move(problem));
    BoundProblems(&problems_, &problems_left_out_);
  }
}

std::vector<Problem> Inputs::TakeProblems(std::uint64_t* left_out) {
  *left_out += problems_left_out_;
  return std::move(problems_);
}

}  // namespace whyoom
