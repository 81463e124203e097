# Completion of sonde and its tools for fish: commands and options are those that the help of the program lists.

# Options that a help text on stdin begins lines with, with what they mean.
function __sonde_options
    sed -n 's/^    \(-[^ ].*\)/\1/p' | while read -l line
        set -l about (string replace -r '^.*?  +' '' -- $line)
        for word in (string replace -r '  .*' '' -- $line | string split ',')
            printf '%s\t%s\n' (string replace -r '[ =\[].*' '' -- (string trim -- $word)) $about
        end
    end
end

# What an option's value may be, where the help text on stdin has a|b|c behind it.
function __sonde_choices
    sed -n 's/^    \(-[^ ].*\)/\1/p' | sed 's/  .*//' | while read -l line
        set -l words (string split -n ' ' -- (string replace -a ',' ' ' -- $line))
        if contains -- $argv[1] $words[1..-2]; and string match -q '*|*' -- $words[-1]
            string split '|' -- $words[-1]
        end
    end
end

function __sonde_tools
    sonde tools 2>/dev/null | string replace -rf '^    (\S+) +(.*)' '$1\t$2'
end

function __sonde_commands
    sonde --help 2>/dev/null | sed -n '/^COMMANDS:/,/^$/p' | string replace -rf '^    ([a-z]+).*?  +(.*)' '$1\t$2'
end

# The word behind sonde, when it is complete.
function __sonde_first
    set -l words (commandline -opc)
    test (count $words) -gt 1; and echo $words[2]
end

function __sonde_candidates
    set -l first (__sonde_first)
    switch (commandline -ct)
        case '-*'
            if not contains -- "$first" '' help tools; and begin; __sonde_commands; __sonde_tools; end | string match -qr -- "^$first\t"
                sonde $first -h 2>/dev/null | __sonde_options
            else
                sonde --help 2>/dev/null | __sonde_options
            end
        case '*'
            if test -z "$first"
                __sonde_tools
                __sonde_commands
            else if test "$first" = tools; and test (commandline -opc)[-1] = -s
                __sonde_tools
            else if contains -- (commandline -opc)[-1] list -l --list
                sonde -l (commandline -ct)'*' 2>/dev/null | head -n 500
            else if string match -q -- '-*' (commandline -opc)[-1]
                sonde $first -h 2>/dev/null | __sonde_choices (commandline -opc)[-1]
            end
    end
end

complete -c sonde -a '(__sonde_candidates)'
