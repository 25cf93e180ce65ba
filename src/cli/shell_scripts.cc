#include "cli/shell_scripts.h"

namespace whyoom {
namespace {

constexpr std::string_view kBash = R"sh(# bash completion for whyoom
_whyoom() {
  COMPREPLY=()
  local program=${COMP_WORDS[0]/#\~/$HOME}
  command -v -- "$program" >/dev/null || program=whyoom

  # bash splits words also at = and :, whyoom does not. `done` is what stands in the last word before the part that
  # bash completes; `starts` says where a word began.
  local line=() starts=() done='' joined='' part i
  for ((i = 1; i <= COMP_CWORD; i++)); do
    part=${COMP_WORDS[i]}
    if ((${#line[@]})) && { [[ $joined || $part == [=:]* ]]; }; then
      [[ $part == [=:]* ]] && done=${line[-1]}$part || done=${line[-1]}
      line[-1]+=$part
    else
      done='' line+=("$part") starts+=("$i")
    fi
    [[ $part == *[=:] ]] && joined=1 || joined=''
  done
  local current=${line[-1]#"$done"}

  local answer fill where entry
  mapfile -t answer < <("$program" __complete -- "${line[@]}" 2>/dev/null)
  IFS=$'\t' read -r fill where <<<"${answer[0]}"
  for entry in "${answer[@]:1}"; do
    entry=${entry%%$'\t'*}
    COMPREPLY+=("${entry#"$done"}")
  done

  case $fill in
    files)
      if ((${#COMPREPLY[@]})); then
        compopt -o filenames
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$current")
      else
        compopt -o default
      fi
      ;;
    folders) compopt -o dirnames ;;
    job)
      if declare -F _comp_command_offset >/dev/null; then
        _comp_command_offset "${starts[where]}"
      elif declare -F _command_offset >/dev/null; then
        _command_offset "${starts[where]}"
      else
        ((starts[where] == COMP_CWORD)) && mapfile -t COMPREPLY < <(compgen -c -- "$current" | sort -u)
        compopt -o default
      fi
      ;;
  esac
}
complete -F _whyoom whyoom
)sh";

constexpr std::string_view kZsh = R"sh(#compdef whyoom
# zsh completion for whyoom
_whyoom() {
  local program=${(Q)words[1]} fill where entry
  program=${program/#\~/$HOME}
  (( $+commands[$program] )) || [[ $program == */* && -x $program ]] || program=whyoom

  local -a answer described
  answer=("${(@f)$("$program" __complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
  fill=${answer[1]%%$'\t'*} where=${answer[1]#*$'\t'}
  for entry in "${(@)answer[2,-1]}"; do
    described+=("${${entry%%$'\t'*}//:/\\:}:${entry#*$'\t'}")
  done
  local found=1
  (( $#described )) && _describe -t words 'whyoom' described && found=0

  case $fill in
    files) compset -P "${(b)where}"; _files && found=0 ;;
    folders) compset -P "${(b)where}"; _path_files -/ && found=0 ;;
    job)
      words=("${(@)words[where+2,-1]}")
      (( CURRENT -= where + 1 ))
      _normal && found=0
      ;;
  esac
  return found
}
if [[ ${funcstack[1]} == _whyoom ]]; then
  _whyoom "$@"
else
  compdef _whyoom whyoom
fi
)sh";

constexpr std::string_view kFish = R"sh(# fish completion for whyoom
function __whyoom_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program (string replace -r '^~' $HOME -- $words[1])
    command -q $program; or set program whyoom
    set -e words[1]

    set -l answer (command $program __complete -- $words $current 2>/dev/null)
    set -l first (string split \t -- $answer[1])
    set -l prefix_length (string length -- "$first[2]")
    set -l name (string sub -s (math $prefix_length + 1) -- $current)
    set -e answer[1]
    printf '%s\n' $answer

    switch "$first[1]"
        case files
            printf '%s\n' $first[2](__fish_complete_path $name)
        case folders
            printf '%s\n' $first[2](__fish_complete_directories $name '')
        case job
            set -e words[1..$first[2]]
            complete -C (string join ' ' -- (string escape -- $words) $current)
    end
end
complete -c whyoom -f -k -a '(__whyoom_complete)'
)sh";

}  // namespace

std::string_view CompletionScript(Shell shell) {
  switch (shell) {
    case Shell::kBash:
      return kBash;
    case Shell::kZsh:
      return kZsh;
    case Shell::kFish:
      break;
  }
  return kFish;
}

}  // namespace whyoom
