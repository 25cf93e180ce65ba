# bash completion for whyoom
_whyoom() {
  COMPREPLY=()
  local program=${COMP_WORDS[0]/#\~/$HOME}
  command -v -- "$program" >/dev/null || program=whyoom

  # bash splits words at = and :, but whyoom does not: `line` contains the joined words. bash completes only the end of
  # the last word; `done` is the text before it. `starts` contains the index in COMP_WORDS at which each word starts.
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
