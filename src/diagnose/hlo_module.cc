#include "diagnose/hlo_module.h"

#include <re2/re2.h>

#include <utility>

#include "diagnose/source_path.h"
#include "input/text_lines.h"

namespace whyoom {
namespace {

constexpr std::size_t kMaxLabel = 250;  // where the compiler cuts it in its own reports
constexpr std::size_t kMaxTransfers = 1000;
constexpr std::size_t kMaxTable = 1000000;
constexpr int kMaxFrames = 200;

re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

struct FileLocation {
  int file = 0;
  std::int64_t line = 0;
};

struct StackFrame {
  int location = 0;
  int parent = 0;
};

// The tables before the first computation.
class StackFrames {
 public:
  // Whether the line belonged to a table.
  bool Read(std::string_view line) {
    if (line == "FileNames" || line == "FunctionNames" || line == "FileLocations" || line == "StackFrames") {
      table_ = line;
      return true;
    }
    if (table_.empty() || line.empty() || line[0] < '0' || line[0] > '9') return line.empty();
    static const re2::RE2 file(R"re(^(\d{1,9}) "(.*)"$)re");
    static const re2::RE2 location(R"(^(\d{1,9}) \{file_name_id=(\d{1,9}) .*?\bline=(\d{1,9})\b)");
    static const re2::RE2 frame(R"(^(\d{1,9}) \{file_location_id=(\d{1,9})(?: parent_frame_id=(\d{1,9}))?)");
    int id = 0;
    if (table_ == "FileNames" && files_.size() < kMaxTable) {
      std::string name;
      if (re2::RE2::FullMatch(Piece(line), file, &id, &name)) files_[id] = name;
    } else if (table_ == "FileLocations" && locations_.size() < kMaxTable) {
      FileLocation read;
      if (re2::RE2::PartialMatch(Piece(line), location, &id, &read.file, &read.line)) locations_[id] = read;
    } else if (table_ == "StackFrames" && frames_.size() < kMaxTable) {
      StackFrame read;
      std::string parent;
      if (re2::RE2::PartialMatch(Piece(line), frame, &id, &read.location, &parent)) {
        read.parent = parent.empty() ? 0 : std::stoi(parent);
        // XLA prints parents one too high: no frame calls itself.
        if (read.parent == id) parents_are_high_ = true;
        frames_[id] = read;
      }
    }
    return true;
  }

  // The user's own line: the innermost frame that lies in no library.
  void Resolve(int frame, HloInstruction* instruction) const {
    for (int depth = 0; depth < kMaxFrames && frame > 0; ++depth) {
      const auto found = frames_.find(frame);
      if (found == frames_.end()) return;
      const auto location = locations_.find(found->second.location);
      const auto name = location == locations_.end() ? files_.end() : files_.find(location->second.file);
      if (name != files_.end()) {
        const bool first = instruction->source_file.empty();
        const bool library = IsLibraryPath(name->second);
        if (first || !library) {
          instruction->source_file = name->second;
          instruction->source_line = location->second.line;
        }
        if (!library) return;
      }
      frame = found->second.parent - (parents_are_high_ ? 1 : 0);
    }
  }

 private:
  std::string table_;
  std::map<int, std::string> files_;
  std::map<int, FileLocation> locations_;
  std::map<int, StackFrame> frames_;
  bool parents_are_high_ = false;
};

// "  ROOT %fusion.1 = f32[8]{0} fusion(%a, %b), kind=kLoop, metadata={…}": name and what follows " = ".
bool SplitInstruction(std::string_view line, std::string_view* name, std::string_view* rest) {
  const std::size_t begin = line.find_first_not_of(' ');
  if (begin == std::string_view::npos || begin == 0) return false;
  line.remove_prefix(begin);
  if (line.starts_with("ROOT ")) line.remove_prefix(5);
  if (line.starts_with("%")) line.remove_prefix(1);
  const std::size_t equals = line.find(" = ");
  if (equals == std::string_view::npos || line.substr(0, equals).find_first_of(" {}(") != std::string_view::npos)
    return false;
  *name = line.substr(0, equals);
  *rest = line.substr(equals + 3);
  return true;
}

// What follows the result's shape: "fusion(%a, %b), kind=kLoop, …". A tuple's shape stands in parentheses.
std::string_view WithoutShape(std::string_view rest) {
  int depth = 0;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] == '(' || rest[i] == '{' || rest[i] == '[') ++depth;
    if (rest[i] == ')' || rest[i] == '}' || rest[i] == ']') --depth;
    if (rest[i] == ' ' && depth == 0) return rest.substr(i + 1);
  }
  return rest;
}

HloInstruction Interpret(std::string_view name, std::string_view rest, const StackFrames& frames) {
  HloInstruction instruction;
  const std::string_view body = WithoutShape(rest);
  instruction.opcode = body.substr(0, body.find('('));
  std::string label = std::string(name) + " = " + std::string(body.substr(0, body.find(", metadata={")));
  re2::RE2::GlobalReplace(&label, "%", "");
  instruction.label = label.substr(0, kMaxLabel);
  static const re2::RE2 op_name(R"re(\bop_name="((?:[^"\\]|\\.)*)")re");
  static const re2::RE2 file(R"re(\bsource_file="((?:[^"\\]|\\.)*)")re");
  static const re2::RE2 line(R"(\bsource_line=(\d{1,9}))");
  static const re2::RE2 frame(R"(\bstack_frame_id=(\d{1,9}))");
  const re2::StringPiece text = Piece(rest);
  re2::RE2::PartialMatch(text, op_name, &instruction.op_name);
  std::int64_t number = 0;
  int frame_id = 0;
  if (re2::RE2::PartialMatch(text, file, &instruction.source_file)) {
    if (re2::RE2::PartialMatch(text, line, &number)) instruction.source_line = number;
  } else if (re2::RE2::PartialMatch(text, frame, &frame_id)) {
    frames.Resolve(frame_id, &instruction);
  }
  return instruction;
}

}  // namespace

HloModule ReadHloModule(ByteSource& source, const std::map<std::string, bool>& wanted) {
  HloModule module;
  StackFrames frames;
  TextLines lines(source);
  std::string_view line;
  bool in_tables = true;
  while (lines.Next(&line)) {
    if (in_tables && !line.starts_with("HloModule")) in_tables = frames.Read(line);
    std::string_view name;
    std::string_view rest;
    if (!SplitInstruction(line, &name, &rest)) continue;
    const bool transfer =
        rest.find(" send(") != std::string_view::npos && rest.find("is_host_transfer=true") != std::string_view::npos;
    if (transfer && module.host_transfers.size() < kMaxTransfers) {
      module.host_transfers.emplace_back(name, Interpret(name, rest, frames));
    }
    const std::string key(name);
    if (wanted.contains(key)) module.instructions.try_emplace(key, Interpret(name, rest, frames));
  }
  return module;
}

}  // namespace whyoom
