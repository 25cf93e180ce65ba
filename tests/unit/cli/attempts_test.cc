// The changes that `whyoom try` compiles for a module.
#include "cli/attempts.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "input/error.h"

using namespace whyoom;

namespace TEST_FILE {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

ModuleValue Value(const std::string& name, std::vector<std::int64_t> dims, std::optional<std::size_t> result = {}) {
  return {name, "f32", std::move(dims), false, {}, result};
}

// A training step: weights and moments come back updated, the batch does not.
ModuleDescription TrainStep() {
  ModuleDescription module;
  module.arguments = {Value("params['w']", {1024, 512}, 0), Value("state.mu['w']", {1024, 512}, 1),
                      Value("batch['x']", {64, 1024})};
  module.results = {Value("result[0]['w']", {1024, 512}), Value("result[1].mu['w']", {1024, 512}),
                    Value("result[2]", {})};
  return module;
}

std::vector<std::string> Settings(const std::vector<Attempt>& attempts) {
  std::vector<std::string> settings;
  for (const Attempt& attempt : attempts) settings.push_back(attempt.setting);
  return settings;
}

const Attempt& Named(const std::vector<Attempt>& attempts, const std::string& setting) {
  const auto found = std::find_if(attempts.begin(), attempts.end(),
                                  [&](const Attempt& attempt) { return attempt.setting == setting; });
  CAPTURE(setting, Settings(attempts));
  REQUIRE(found != attempts.end());
  return *found;
}

std::vector<Attempt> AttemptsFor(const ModuleDescription& module, const std::vector<std::string>& only) {
  return MakeAttempts(BuiltInRules(), module, WantedRemedies(BuiltInRules(), only));
}

std::size_t Donations(const ModuleDescription& module) {
  const std::vector<Attempt> attempts = AttemptsFor(module, {});
  return std::count_if(attempts.begin(), attempts.end(),
                       [](const Attempt& attempt) { return !attempt.change.donated.empty(); });
}

std::string ErrorOf(const std::vector<std::string>& only) {
  try {
    ThrowIfUnused(WantedRemedies(BuiltInRules(), only), AttemptsFor(TrainStep(), only));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("arguments that come back as results are donated, alone and together", "[cli]") {
  const std::vector<Attempt> attempts = AttemptsFor(TrainStep(), {"donate_buffers"});
  CHECK(Settings(attempts) == std::vector<std::string>{"donate_argnames=('params',)", "donate_argnames=('state',)",
                                                       "donate_argnames=('params', 'state')"});
  CHECK(attempts[2].change.donated == std::vector<std::size_t>{0, 1});
  CHECK(attempts[0].remedy == "donate_buffers");
}

TEST_CASE("each result can reuse one argument only", "[cli]") {
  ModuleDescription module = TrainStep();
  module.results.erase(module.results.begin() + 1);  // one array comes back
  CHECK(Settings(AttemptsFor(module, {"donate_buffers"})) == std::vector<std::string>{"donate_argnames=('params',)"});
  module.arguments[0].donated = true;  // it already uses the result
  CHECK(Donations(module) == 0);
}

TEST_CASE("an argument of which little comes back is not donated, because the caller uses it again", "[cli]") {
  ModuleDescription module;
  module.arguments = {Value("frozen['a']", {1024, 1024}), Value("frozen['b']", {8, 8})};
  module.results = {Value("result", {8, 8})};
  CHECK(Donations(module) == 0);
}

TEST_CASE("an argument is split over a mesh axis that does not split it yet, and so is its result", "[cli]") {
  ModuleDescription module = TrainStep();
  module.mesh = {{"data", 4}};
  module.arguments[2].splits = {{"data"}, {}};
  const std::vector<Attempt> attempts = AttemptsFor(module, {"shard_tensor"});
  CHECK(Settings(attempts) == std::vector<std::string>{"in_shardings: P('data', None) for params['w']",
                                                       "in_shardings: P('data', None) for state.mu['w']",
                                                       "in_shardings: P('data', None) for params['w'], state.mu['w']"});
  const ModuleChange& moments = attempts[1].change;
  CHECK(moments.split_arguments.at(1) == Split(0, "data"));  // the longest dimension
  CHECK(moments.split_results.at(1) == Split(0, "data"));
  CHECK(moments.split_results.size() == 1);
}

TEST_CASE("a dimension that the axis does not divide is not split", "[cli]") {
  ModuleDescription module;
  module.mesh = {{"model", 3}, {"replica", 1}};
  module.arguments = {Value("w", {1024, 768}), Value("b", {1024, 1024})};
  const std::vector<Attempt> attempts = AttemptsFor(module, {"shard_tensor"});
  REQUIRE(attempts.size() == 1);
  CHECK(attempts[0].change.split_arguments == std::map<std::size_t, Split>{{0, {1, "model"}}});
}

TEST_CASE("optimizer state and its results are kept on the host, weights and inputs are not", "[cli]") {
  const std::vector<Attempt> attempts = AttemptsFor(TrainStep(), {"host_offload"});
  REQUIRE(attempts.size() == 1);
  CHECK(attempts[0].setting == "memory_kind='pinned_host' for the optimizer state in state");
  CHECK(attempts[0].change.host_arguments == std::vector<std::size_t>{1});
  CHECK(attempts[0].change.host_results == std::vector<std::size_t>{1});
}

TEST_CASE("compiler options and the fitting level need no argument", "[cli]") {
  const std::vector<Attempt> attempts = AttemptsFor(ModuleDescription(), {});
  const Attempt& option = Named(attempts, "LIBTPU_INIT_ARGS=--xla_tpu_pre_fusion_remat=true");
  CHECK(option.change.options.at("xla_tpu_pre_fusion_remat") == "true");
  CHECK(Named(attempts, "JAX_MEMORY_FITTING_LEVEL=O3").change.fitting_level == "O3");
}

TEST_CASE("--remedy selects remedies and settings", "[cli]") {
  const auto one = [](const std::string& text) { return AttemptsFor(TrainStep(), {text}).at(0); };
  CHECK(one("xla_flags_remat=--xla_tpu_some_flag=7").change.options.at("xla_tpu_some_flag") == "7");
  CHECK(one("xla_flags_memory=JAX_MEMORY_FITTING_LEVEL=O2").change.fitting_level == "O2");
  CHECK(one("donate_buffers=state").setting == "donate_argnames=('state',)");
  CHECK(ErrorOf({"donate_buffers=batch"}) == "--remedy donate_buffers: cannot apply 'batch' to this program");
  CHECK(ErrorOf({"xla_flags_remat=true"}) == "--remedy xla_flags_remat: cannot apply 'true' to this program");
  CHECK(ErrorOf({"bf16"}) == "--remedy bf16: cannot be tried on a dump, because it changes the program's source");
  CHECK(ErrorOf({"bf17"}) == "--remedy: unknown remedy 'bf17', did you mean 'bf16'?");
}

TEST_CASE("the changes that save most are combined, unless they exclude each other", "[cli]") {
  const std::vector<Attempt> attempts = {{"xla_flags_memory", "LIBTPU_INIT_ARGS=--xla_a=1", {{{"xla_a", "1"}}}},
                                         {"xla_flags_memory", "LIBTPU_INIT_ARGS=--xla_a=2", {{{"xla_a", "2"}}}},
                                         {"xla_flags_remat", "LIBTPU_INIT_ARGS=--xla_b=1", {{{"xla_b", "1"}}}},
                                         {"donate_buffers", "donate_argnames=('state',)", {{}, "", {0}}},
                                         {"donate_buffers", "donate_argnames=('params',)", {{}, "", {1}}}};
  const auto result = [](std::int64_t need) { return CompiledAttempt{"", "", need * kMiB, "", 1}; };
  const std::vector<CompiledAttempt> results = {result(80), result(85), result(90), result(70), result(110)};
  const std::vector<Attempt> pairs = MakePairs(attempts, results, 100 * kMiB, kMiB);
  CHECK(Settings(pairs) == std::vector<std::string>{"donate_argnames=('state',) and LIBTPU_INIT_ARGS=--xla_a=1",
                                                    "donate_argnames=('state',) and LIBTPU_INIT_ARGS=--xla_a=2",
                                                    "donate_argnames=('state',) and LIBTPU_INIT_ARGS=--xla_b=1",
                                                    "LIBTPU_INIT_ARGS='--xla_a=1 --xla_b=1'",
                                                    "LIBTPU_INIT_ARGS='--xla_a=2 --xla_b=1'"});
  CHECK(pairs[0].remedy == "donate_buffers+xla_flags_memory");
  CHECK(pairs[0].change.donated == std::vector<std::size_t>{0});
  CHECK(pairs[0].change.options.at("xla_a") == "1");
}

TEST_CASE("the size of a value counts its type", "[cli]") {
  const auto bytes = [](const std::string& dtype) { return ModuleValue{"", dtype, {3, 8}}.bytes(); };
  CHECK(bytes("bf16") == 48);
  CHECK(bytes("i1") == 24);
  CHECK(bytes("ui4") == 12);
  CHECK(bytes("f8E4M3FN") == 24);
  CHECK(bytes("complex<f32>") == 192);
}

}  // namespace TEST_FILE
