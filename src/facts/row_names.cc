#include "facts/row_names.h"

#include <re2/re2.h>

#include <string_view>

#include "facts/op_name.h"
#include "facts/row_fields.h"
#include "text/regex_options.h"

namespace whyoom {
namespace {

bool ContainsText(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// "copy.22", "fusion.82", "broadcast.36.clone.21", "output of custom-call.400@{}".
bool IsCompilersName(const std::string& name) {
  static const Regex numbered(
      R"(%?(?:wide\.|(?:arg_)?tuple|[\w-]*fusion|(?:copy|custom-call|broadcast|convert|bitcast|slice|dynamic-slice|)"
      R"(dynamic-update-slice|transpose|reshape|pad|concatenate|reduce|reduce-window|select|gather|scatter|sort|dot|)"
      R"(convolution|add|subtract|multiply|divide|maximum|minimum|exponential|iota|constant|while|conditional|call|)"
      R"(get-tuple-element|param(?:eter)?|all-gather|all-reduce|all-to-all|reduce-scatter|collective-permute|)"
      R"(copy-start|copy-done)[._]?(?:\d|remat|clone))[\w.]*)");
  static const Regex output(R"((?:output of ).*|.*@\{[\d,]*\})");
  return re2::RE2::FullMatch(name, numbered) || re2::RE2::FullMatch(name, output);
}

// Stores the parameter's name. Returns false if the row is not a parameter, or if the compiler numbered its name.
bool NamesParameter(const Allocation& row, std::string* name) {
  static const Regex parameter(R"(%?([\w.-]+) = .*\bparameter\(\d+\).*)");
  static const Regex numbered(R"((?:[Aa]rg|p|param|parameter)[_.]?\d.*)");
  return re2::RE2::FullMatch(row.xla_label, parameter, name) && !re2::RE2::FullMatch(*name, numbered) &&
         !IsCompilersName(*name);
}

// "jit(step)/jit(main)/transpose(jvp(loss))/mul" becomes "loss/mul": the last two parts identify it. Skips the
// equations of einsums. Appends the source line for an operation; an argument has none.
std::string OperationName(const Allocation& row) {
  constexpr std::size_t kLongName = 60;
  std::string name;
  if (!ContainsText(row.op_name, "/") && !ContainsText(row.op_name, "->")) return row.op_name;  // an argument
  std::string rest = row.op_name.substr(0, row.op_name.find('['));
  for (int parts = 0; parts < 2 && !rest.empty();) {
    const std::size_t slash = rest.rfind('/');
    const std::string part(WithoutWrappers(std::string_view(rest).substr(slash == std::string::npos ? 0 : slash + 1)));
    rest = slash == std::string::npos ? std::string() : rest.substr(0, slash);
    const bool function = part.rfind("jit(", 0) == 0 && !name.empty();
    if (part.empty() || ContainsText(part, "->") || function) continue;
    if (!name.empty() && name.size() + part.size() > kLongName) break;
    name = name.empty() ? part : part + "/" + name;
    ++parts;
  }
  if (name.empty()) return name;
  if (name == "while") name = "the loop";  // a bare "while" would read as a conjunction
  const Value source = RowField(row, "source");
  const std::string* place = AsText(source);
  return place == nullptr ? name : name + " at " + *place;
}

std::string UsersName(const Allocation& row) {
  std::string name = UnescapedPath(OperationName(row));
  if (!name.empty() && !IsCompilersName(name)) return name;
  return NamesParameter(row, &name) ? name : std::string();
}

std::string ShapeName(const Allocation& row) { return row.array ? row.array->shape : WithoutLayouts(row.shape_text); }

}  // namespace

std::string UnescapedPath(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '\'' || text[i + 1] == '"')) ++i;
    plain += text[i];
  }
  return plain;
}

bool IsNamed(const Allocation& row) { return !UsersName(row).empty(); }

std::string ShortName(const Allocation& row) {
  std::string name = UsersName(row);
  return name.empty() ? ShapeName(row) : name;
}

std::string NameWithShape(const Allocation& row) {
  const std::string name = UsersName(row);
  const std::string shape = ShapeName(row);
  return name.empty() || shape.empty() ? name + shape : name + " " + shape;
}

}  // namespace whyoom
