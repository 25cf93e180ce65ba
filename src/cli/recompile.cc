#include "cli/recompile.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <thread>

#include "cli/compile_child.h"
#include "cli/embedded.h"
#include "input/error.h"
#include "program/xla_dump.h"
#include "rules/sha256.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto kPoll = std::chrono::milliseconds(20);
constexpr std::size_t kMostProblemBytes = 300;
constexpr std::int64_t kMostNeed = std::int64_t{1} << 50;  // a larger figure in the cache is damage
constexpr double kMostSeconds = 1e6;
constexpr std::array kModuleFiles = {"module.mlir", "compile_options.textproto", "topology.textproto"};

// Returns an empty text unless it is a regular file: reading another one could take forever.
std::string FileText(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return "";
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

nlohmann::json ParseFile(const fs::path& path) { return nlohmann::json::parse(FileText(path), nullptr, false); }

ModuleValue ToValue(const nlohmann::json& json) {
  ModuleValue value;
  value.name = json.value("name", "");
  value.dtype = json.value("dtype", "");
  value.dims = json.value("dims", std::vector<std::int64_t>());
  value.donated = json.value("donated", false);
  if (json.contains("result") && json["result"].is_number_unsigned()) value.result = json["result"].get<std::size_t>();
  if (json.contains("splits") && json["splits"].is_array())
    value.splits = json["splits"].get<std::vector<std::vector<std::string>>>();
  return value;
}

ModuleDescription ToDescription(const nlohmann::json& json) {
  ModuleDescription description;
  description.compiler = Printable(json.value("compiler", ""));
  description.mesh = json.value("mesh", std::map<std::string, std::int64_t>());
  for (const nlohmann::json& value : json.at("arguments")) description.arguments.push_back(ToValue(value));
  for (const nlohmann::json& value : json.at("results")) description.results.push_back(ToValue(value));
  for (ModuleValue& argument : description.arguments) {
    if (argument.result >= description.results.size()) argument.result.reset();
  }
  return description;
}

nlohmann::json ToJson(const std::map<std::size_t, Split>& splits) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [index, split] : splits)
    json[std::to_string(index)] = nlohmann::json::array({split.first, split.second});
  return json;
}

// The total of the memory in HBM, from the report that the compiler writes beside a buffer assignment. nullopt if there
// is none, 0 if it is incomplete.
std::optional<std::int64_t> ReportedTotal(std::string_view assignment) {
  constexpr std::string_view kAssignment = "buffer-assignment.txt";
  constexpr std::string_view kTotal = "(color=0)\nTotal bytes: ";
  assignment.remove_suffix(std::min(kAssignment.size(), assignment.size()));
  const fs::path path = std::string(assignment) + "memory-usage-report.txt";
  if (!fs::exists(path)) return std::nullopt;
  const std::string text = FileText(path);
  const std::size_t at = text.find(kTotal);
  return at == std::string::npos ? 0 : std::atoll(text.c_str() + at + kTotal.size());
}

// A stored result. nullopt unless only the user can have written the file and its figures are possible.
std::optional<CompileResult> ReadStored(const std::string& path) {
  constexpr std::size_t kMostBytes = 200;
  const Descriptor file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!file.is_open() || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (status.st_uid != geteuid() || status.st_nlink != 1 || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return std::nullopt;
  std::string text(kMostBytes, '\0');
  text.resize(std::max<ssize_t>(0, read(file.get(), text.data(), text.size())));
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("need_bytes") || !json["need_bytes"].is_number_integer()) return std::nullopt;
  if (!json.contains("seconds") || !json["seconds"].is_number()) return std::nullopt;
  const auto need = json["need_bytes"].get<std::int64_t>();
  const auto seconds = json["seconds"].get<double>();
  if (need <= 0 || need > kMostNeed || !(seconds >= 0 && seconds < kMostSeconds)) return std::nullopt;
  return CompileResult{need, "", seconds};
}

// A cache that cannot be written is not used.
void Store(const CompileResult& result, const fs::path& path) {
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  std::string part = (path.parent_path() / "XXXXXX").string();
  const Descriptor file(mkostemp(part.data(), O_CLOEXEC));  // a new file, which only this user can write
  if (!file.is_open()) return;
  const std::string text = nlohmann::json{{"need_bytes", *result.need_bytes}, {"seconds", result.seconds}}.dump();
  const bool written = write(file.get(), text.data(), text.size()) == std::ssize(text);
  if (!written || rename(part.c_str(), path.c_str()) != 0) unlink(part.c_str());
}

void WriteText(const fs::path& path, std::string_view text) {
  std::ofstream file(path);
  if (!(file << text).flush())
    throw Error(fmt::format("cannot write {}: {} (set TMPDIR to a folder with more space)", Printable(path.string()),
                            strerror(errno)));
}

// Why a child ended without a result.
std::string WhyEnded(const CompileChild& child, const fs::path& folder) {
  constexpr std::uintmax_t kLittle = 1 << 20;  // bytes
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  if (!error && space.available < kLittle)
    return fmt::format("no space left in {} (set TMPDIR to a folder with more space)",
                       Printable(folder.parent_path().string()));
  return fmt::format("{} ({})", LastLine(folder / "output.txt"), child.HowItEnded());
}

// Writes the files that the child reads. `request`: an object of JSON without the paths.
void WriteRequest(const fs::path& folder, const std::string& module, const std::string& request) {
  nlohmann::json json = nlohmann::json::parse(request);
  json["module"] = fs::absolute(module).string();
  json["result"] = (folder / "result.json").string();
  json["dump_to"] = (folder / "dump").string();
  WriteText(folder / "recompile.py", RecompileScript());
  WriteText(folder / "request.json", json.dump());
}

std::int64_t BitsOf(const std::string& dtype) {
  if (dtype.starts_with("complex")) return dtype.find("64") != std::string::npos ? 128 : 64;
  const std::size_t digit = dtype.find_first_of("0123456789");
  const std::int64_t bits = digit == std::string::npos ? 8 : std::atoi(dtype.c_str() + digit);
  return bits == 1 ? 8 : bits;  // a bool is a byte
}

}  // namespace

std::int64_t ModuleValue::bytes() const {
  std::int64_t bits = BitsOf(dtype);
  for (const std::int64_t dim : dims) bits *= dim;
  return bits / 8;
}

void ModuleChange::Add(const ModuleChange& other) {
  options.insert(other.options.begin(), other.options.end());
  if (fitting_level.empty()) fitting_level = other.fitting_level;
  const auto append = [](const std::vector<std::size_t>& from, std::vector<std::size_t>* to) {
    to->insert(to->end(), from.begin(), from.end());
  };
  append(other.donated, &donated);
  append(other.host_arguments, &host_arguments);
  append(other.host_results, &host_results);
  split_arguments.insert(other.split_arguments.begin(), other.split_arguments.end());
  split_results.insert(other.split_results.begin(), other.split_results.end());
}

Recompiler::Recompiler(std::string python, std::string module, std::string cache, CompileLimits limits,
                       const ReadControl& control)
    : python_(std::move(python)),
      module_(std::move(module)),
      cache_(std::move(cache)),
      limits_(limits),
      control_(control) {}

std::string LastLine(const std::string& file) {
  constexpr std::streamoff kTail = 64 << 10;
  std::ifstream input(file);
  input.seekg(0, std::ios::end);
  input.seekg(std::max<std::streamoff>(0, input.tellg() - kTail));
  std::string last;
  std::string error;
  for (std::string line; std::getline(input, line);) {
    if (!line.empty()) last = line;
    if (line.find("Error") != std::string::npos) error = line;
  }
  return CutBytes(Printable(error.empty() ? last : error), kMostProblemBytes);
}

std::optional<AssignedNeed> FindNeed(const std::string& folder, const std::string& module) {
  XlaDump dump;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder, ignored))
    dump.AddFile(entry.path().string(), true);
  std::optional<AssignedNeed> found;
  for (const XlaDump::InputModule& each : dump.InputModules()) {
    if (each.assignment.empty() || (!module.empty() && each.name != module)) continue;
    const std::optional<std::int64_t> total = ReportedTotal(each.assignment);
    const AssignmentTotals sums = ReadTotals(each.assignment);
    if (sums.need_bytes == 0 || (total ? *total != sums.total_bytes : !sums.whole)) continue;
    if (found && std::pair(found->failed, found->bytes) >= std::pair(each.failed, sums.need_bytes)) continue;
    found = {sums.need_bytes, each.failed, total.has_value()};
  }
  return found;
}

bool HasAssignedBuffers(const std::string& folder, const std::string& module) {
  const std::optional<AssignedNeed> need = FindNeed(folder, module);
  return need && need->confirmed;
}

void ReadNeed(const std::string& folder, const std::string& module, const std::string& error, CompileResult* result) {
  const std::optional<AssignedNeed> need = FindNeed(folder, module);
  const std::string message = CutBytes(Printable(error.substr(0, error.find('\n'))), kMostProblemBytes);
  if (!need) {
    if (result->problem.empty()) result->problem = message.empty() ? "the compiler did not report the need" : message;
  } else if (!message.empty() && !need->failed) {
    result->problem = "buffers were assigned, but then the compile failed: " + message;
  } else {
    result->need_bytes = need->bytes;
    result->problem.clear();
  }
}

std::string Await(CompileChild* child, const CompileLimits& limits, const ReadControl& control,
                  const std::function<bool()>& is_done) {
  const Clock::time_point begin = Clock::now();
  while (!child->HasEnded() && !is_done()) {
    if (control.stopped()) return "interrupted";
    if (Clock::now() - begin > limits.time) return fmt::format("not done after {} s", limits.time.count());
    if (limits.memory > 0 && child->MemoryBytes() > limits.memory)
      return fmt::format("the compiler needs more than {} of host memory",
                         FormatSize(static_cast<std::int64_t>(limits.memory)));
    std::this_thread::sleep_for(kPoll);
  }
  return "";
}

bool Recompiler::CanCompile(const std::string& module) {
  return std::all_of(kModuleFiles.begin(), kModuleFiles.end(), [&](const char* name) {
    std::error_code ignored;
    return fs::is_regular_file(fs::path(module) / name, ignored);
  });
}

ModuleDescription Recompiler::Describe() {
  const PrivateFolder folder;
  WriteRequest(folder.path(), module_, R"({"describe": true})");
  CompileChild child(ConfinedPython(python_, folder.path()), folder.path() / "output.txt");
  const std::string why = Await(&child, limits_, control_, [] { return false; });
  if (!why.empty()) throw Error(fmt::format("cannot describe {}: {}", Printable(module_), why));
  const nlohmann::json result = ParseFile(folder.path() / "result.json");
  if (!result.is_object()) throw Error(fmt::format("{}: {}", Printable(python_), WhyEnded(child, folder.path())));
  if (result.contains("error")) {
    std::string what = Printable(result.value("error", ""));
    if (result.value("missing", false))
      what = fmt::format(
          "{0}: {1} (install it with: {0} -m pip install 'jax[tpu]'; or select another Python with --python)",
          Printable(python_), what);
    throw Error(what);
  }
  try {
    const ModuleDescription description = ToDescription(result);
    cache_key_ = Sha256Hex(std::string(RecompileScript()) + result.value("versions", ""));
    for (const char* file : kModuleFiles) cache_key_ = Sha256Hex(cache_key_ + FileText(fs::path(module_) / file));
    return description;
  } catch (const nlohmann::json::exception&) {
    throw Error(fmt::format("{}: unexpected description of {}", Printable(python_), Printable(module_)));
  }
}

std::string Recompiler::CacheFile(const std::string& request) const {
  return cache_.empty() ? "" : cache_ + "/" + Sha256Hex(cache_key_ + request) + ".json";
}

CompileResult Recompiler::Compile(const ModuleChange& change) const {
  try {
    return CompileOrReuse(change);
  } catch (const std::exception& error) {  // a full disk, or a result of unexpected form
    return {std::nullopt, CutBytes(Printable(error.what()), kMostProblemBytes), 0};
  }
}

CompileResult Recompiler::CompileOrReuse(const ModuleChange& change) const {
  const nlohmann::json json = {{"options", change.options},
                               {"fitting", change.fitting_level},
                               {"donate", change.donated},
                               {"shard", ToJson(change.split_arguments)},
                               {"shard_results", ToJson(change.split_results)},
                               {"host", change.host_arguments},
                               {"host_results", change.host_results},
                               {"whole", limits_.whole}};
  const std::string request = json.dump();
  const std::string file = CacheFile(request);
  if (!file.empty()) {
    if (const std::optional<CompileResult> known = ReadStored(file)) return *known;
  }
  const CompileResult result = CompileAnew(request);
  if (!file.empty() && result.need_bytes) Store(result, file);
  return result;
}

CompileResult Recompiler::CompileAnew(const std::string& request) const {
  const PrivateFolder folder;
  const fs::path dump = folder.path() / "dump";
  fs::create_directory(dump);
  WriteRequest(folder.path(), module_, request);
  CompileResult result;
  const Clock::time_point begin = Clock::now();
  {
    CompileChild child(ConfinedPython(python_, folder.path()), folder.path() / "output.txt");
    result.problem =
        Await(&child, limits_, control_, [&] { return !limits_.whole && HasAssignedBuffers(dump.string(), ""); });
    if (!result.problem.empty()) return result;
    if (child.HasEnded() && !fs::exists(folder.path() / "result.json")) result.problem = WhyEnded(child, folder.path());
  }
  result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  const nlohmann::json outcome = ParseFile(folder.path() / "result.json");
  ReadNeed(dump, "", outcome.is_object() ? outcome.value("error", "") : "", &result);
  return result;
}

std::string CompileCacheFolder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if (cache != nullptr && *cache != '\0') return std::string(cache) + "/whyoom/compiles";
  return home != nullptr && *home != '\0' ? std::string(home) + "/.cache/whyoom/compiles" : "";
}

}  // namespace whyoom
