# fish completion for whyoom
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
